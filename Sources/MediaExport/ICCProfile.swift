import Glibc

/// Looks into a colour profile (ICC.1:2010) to tell whether it only says what is true anyway: sRGB (IEC 61966-2-1).
/// By its numbers and not by its name: there are dozens of names, and some of them lie. Pure.
enum ICCProfile {
  /// Colours of red, green and blue as XYZ, adapted to D50 as profiles have them.
  private static let primaries: [(tag: String, xyz: [Double])] = [
    ("rXYZ", [0.4361, 0.2225, 0.0139]), ("gXYZ", [0.3851, 0.7169, 0.0971]), ("bXYZ", [0.1431, 0.0606, 0.7142]),
  ]
  private static let curves = ["rTRC", "gTRC", "bTRC"]
  /// Of a colour coordinate: profiles of sRGB differ in the fourth digit.
  private static let tolerance = 0.002
  /// Of a grey value as it is stored: one level and a half of 255.
  private static let levelTolerance = 1.5 / 255

  /// Whether it is a profile by which a picture looks as without one. A profile that makes no sense is none.
  static func isSRGB(_ bytes: [UInt8]) -> Bool {
    let reader = Reader(bytes: bytes)
    guard bytes.count >= 132, reader.text(36) == "acsp", reader.text(16) == "RGB ", reader.text(20) == "XYZ ",
      let count = reader.number(128), count <= 100
    else { return false }
    var tags: [String: Int] = [:]
    for index in 0..<count {
      guard let name = reader.text(132 + 12 * index), let offset = reader.number(136 + 12 * index) else { return false }
      tags[name] = offset
    }
    // Tables go before the primaries and could say anything.
    guard !tags.keys.contains(where: { $0.hasPrefix("A2B") || $0.hasPrefix("D2B") }) else { return false }
    let hasPrimaries = primaries.allSatisfy { tag, xyz in
      guard let offset = tags[tag], reader.text(offset) == "XYZ " else { return false }
      return xyz.indices.allSatisfy { index in
        reader.fixed(offset + 8 + 4 * index).map { abs($0 - xyz[index]) <= tolerance } ?? false
      }
    }
    return hasPrimaries && curves.allSatisfy { tags[$0].map { isSRGB(reader.curve($0)) } ?? false }
  }

  /// Whether it is for red, green and blue. libvips fails where such a one lies in a grey picture.
  static func isForColours(_ bytes: [UInt8]) -> Bool { Reader(bytes: bytes).text(16) == "RGB " }

  /// - Parameter curve: from stored to linear light.
  private static func isSRGB(_ curve: ((Double) -> Double)?) -> Bool {
    guard let curve else { return false }
    return stride(from: 0.0, through: 1.0, by: 1 / 64).allSatisfy { abs(stored(curve($0)) - $0) <= levelTolerance }
  }

  /// sRGB's curve, from linear light to what is stored.
  private static func stored(_ linear: Double) -> Double {
    linear <= 0.003_130_8 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055
  }

  /// Numbers at offsets; nil beyond the end.
  private struct Reader {
    let bytes: [UInt8]

    private func has(_ offset: Int, _ count: Int) -> Bool { offset >= 0 && offset <= bytes.count - count }

    func text(_ offset: Int) -> String? {
      has(offset, 4) ? String(decoding: bytes[offset..<offset + 4], as: UTF8.self) : nil
    }
    func number(_ offset: Int) -> Int? {
      has(offset, 4) ? bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } : nil
    }
    func short(_ offset: Int) -> Int? { has(offset, 2) ? Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) : nil }
    /// s15Fixed16Number.
    func fixed(_ offset: Int) -> Double? {
      number(offset).map { Double(Int32(truncatingIfNeeded: $0)) / 65536 }
    }

    func curve(_ offset: Int) -> ((Double) -> Double)? {
      switch text(offset) {
      case "curv": table(offset)
      case "para": formula(offset)
      default: nil
      }
    }

    private func table(_ offset: Int) -> ((Double) -> Double)? {
      guard let count = number(offset + 8), count <= 4096 else { return nil }
      let values = (0..<count).compactMap { short(offset + 12 + 2 * $0) }
      guard values.count == count, let first = values.first else { return nil }
      if count == 1 { return { pow($0, Double(first) / 256) } }
      return { value in
        let position = value * Double(count - 1)
        let index = min(count - 2, Int(position))
        let rest = position - Double(index)
        return (Double(values[index]) * (1 - rest) + Double(values[index + 1]) * rest) / 65535
      }
    }

    /// The two forms that profiles of sRGB use: a power, and a power with a straight piece at the dark end.
    private func formula(_ offset: Int) -> ((Double) -> Double)? {
      let p = (0..<5).compactMap { fixed(offset + 12 + 4 * $0) }
      switch short(offset + 8) {
      case 0: return p.first.map { gamma in { pow($0, gamma) } }
      case 3 where p.count == 5: return { $0 >= p[4] ? pow(p[1] * $0 + p[2], p[0]) : p[3] * $0 }
      default: return nil
      }
    }
  }
}
