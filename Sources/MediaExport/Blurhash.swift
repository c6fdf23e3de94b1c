import Glibc

/// A picture in some thirty letters, for front ends to show until the real one is there. By the published algorithm
/// (github.com/woltapp/blurhash, Algorithm.md): a few cosine terms of the colours in linear light, in base 83. Pure.
public enum Blurhash {
  /// Terms across and down.
  private static let across = 4
  private static let down = 3

  /// - Parameter picture: a small one is enough (32 pixels and less): its details do not count.
  public static func encode(_ picture: RGBPicture) -> String {
    let terms = (0..<down).flatMap { y in (0..<across).map { x in term(x, y, of: picture) } }
    let details = terms.dropFirst()
    let largest = details.flatMap { [$0.red, $0.green, $0.blue] }.map(abs).max() ?? 0
    let scale = max(0, min(82, Int((largest * 166 - 0.5).rounded(.down))))
    let maximum = Double(scale + 1) / 166
    return letters(across - 1 + (down - 1) * 9, 1) + letters(scale, 1) + letters(colour(terms[0]), 4)
      + details.map { letters(detail($0, maximum), 2) }.joined()
  }

  private struct Term {
    var red = 0.0
    var green = 0.0
    var blue = 0.0
  }

  private static func term(_ x: Int, _ y: Int, of picture: RGBPicture) -> Term {
    var sum = Term()
    let columns = (0..<picture.width).map { cos(.pi * Double(x * $0) / Double(picture.width)) }
    for row in 0..<picture.height {
      let factor = cos(.pi * Double(y * row) / Double(picture.height))
      for column in 0..<picture.width {
        let at = (row * picture.width + column) * 3
        let weight = factor * columns[column]
        sum.red += weight * linear[Int(picture.bytes[at])]
        sum.green += weight * linear[Int(picture.bytes[at + 1])]
        sum.blue += weight * linear[Int(picture.bytes[at + 2])]
      }
    }
    let scale = (x == 0 && y == 0 ? 1 : 2) / Double(picture.width * picture.height)
    return Term(red: sum.red * scale, green: sum.green * scale, blue: sum.blue * scale)
  }

  /// The mean colour, as in a style sheet.
  private static func colour(_ term: Term) -> Int {
    stored(term.red) << 16 | stored(term.green) << 8 | stored(term.blue)
  }

  private static func detail(_ term: Term, _ maximum: Double) -> Int {
    func step(_ value: Double) -> Int {
      let part = value / maximum
      return max(0, min(18, Int(((part < 0 ? -1 : 1) * abs(part).squareRoot() * 9 + 9.5).rounded(.down))))
    }
    return step(term.red) * 19 * 19 + step(term.green) * 19 + step(term.blue)
  }

  /// sRGB to linear light.
  private static let linear: [Double] = (0...255).map {
    let value = Double($0) / 255
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
  }

  private static func stored(_ linear: Double) -> Int {
    let value = max(0, min(1, linear))
    return Int((value <= 0.003_130_8 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055) * 255 + 0.5)
  }

  private static let alphabet = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".unicodeScalars)

  private static func letters(_ value: Int, _ count: Int) -> String {
    var scalars = String.UnicodeScalarView()
    var divisor = (1..<count).reduce(1) { result, _ in result * 83 }
    for _ in 0..<count {
      scalars.append(alphabet[value / divisor % 83])
      divisor /= 83
    }
    return String(scalars)
  }
}

/// Decoded pixels: sRGB, three bytes each, row by row.
public struct RGBPicture: Sendable, Hashable {
  public let width: Int
  public let height: Int
  public let bytes: [UInt8]

  /// - Returns: nil where the bytes are not those of such a picture.
  public init?(width: Int, height: Int, bytes: [UInt8]) {
    guard width > 0, height > 0, bytes.count == width * height * 3 else { return nil }
    self.width = width
    self.height = height
    self.bytes = bytes
  }
}
