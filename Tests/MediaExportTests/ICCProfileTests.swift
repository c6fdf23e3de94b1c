import Foundation
import Testing

@testable import MediaExport

/// A colour profile with three primaries and one curve.
enum HandmadeProfile {
  static let p3Red = [0.5151, 0.2412, -0.0011]
  static let sRGBFormula = formula([2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])

  static func bytes(
    red: [Double] = [0.4361, 0.2225, 0.0139], green: [Double] = [0.3851, 0.7169, 0.0971],
    blue: [Double] = [0.1431, 0.0606, 0.7141], curve: [UInt8] = sRGBFormula, extra: [String] = []
  ) -> [UInt8] {
    let tags: [(String, [UInt8])] =
      [
        ("wtpt", xyz(white)), ("rXYZ", xyz(red)), ("gXYZ", xyz(green)), ("bXYZ", xyz(blue)),
        ("rTRC", curve), ("gTRC", curve), ("bTRC", curve),
      ] + extra.map { ($0, [0, 0, 0, 0]) }
    var header = [UInt8](repeating: 0, count: 128)
    header.replaceSubrange(8..<12, with: [4, 0x20, 0, 0])
    header.replaceSubrange(12..<24, with: Array("mntrRGB XYZ ".utf8))
    header.replaceSubrange(36..<40, with: Array("acsp".utf8))
    header.replaceSubrange(68..<80, with: xyz(white).dropFirst(8))
    var table = number(tags.count)
    var content: [UInt8] = []
    for (name, value) in tags {
      table += Array(name.utf8) + number(132 + 12 * tags.count + content.count) + number(value.count)
      content += value
    }
    header.replaceSubrange(0..<4, with: number(header.count + table.count + content.count))
    return header + table + content
  }

  /// D50, to which profiles adapt everything.
  private static let white = [0.9642, 1, 0.8249]
  static let displayP3 = bytes(red: p3Red, green: [0.2920, 0.6922, 0.0419], blue: [0.1571, 0.0666, 0.7841])
  /// Its curve is 563/256.
  static let adobeRGB = bytes(
    red: [0.6097, 0.3111, 0.0195], green: [0.2053, 0.6257, 0.0609], blue: [0.1492, 0.0632, 0.7446],
    curve: gamma(2.2))

  static func gamma(_ value: Double) -> [UInt8] {
    let fixed = Int((value * 256).rounded())
    return Array("curv".utf8) + number(0) + number(1) + [UInt8(fixed >> 8), UInt8(fixed & 0xFF)]
  }
  static func table(_ count: Int, _ curve: (Double) -> Double) -> [UInt8] {
    Array("curv".utf8) + number(0) + number(count)
      + (0..<count).flatMap { index -> [UInt8] in
        let value = Int((curve(Double(index) / Double(count - 1)) * 65535).rounded())
        return [UInt8(value >> 8), UInt8(value & 0xFF)]
      }
  }
  static func formula(_ parameters: [Double], type: UInt8 = 3) -> [UInt8] {
    Array("para".utf8) + number(0) + [0, type, 0, 0] + parameters.flatMap { number(Int(($0 * 65536).rounded())) }
  }
  private static func xyz(_ values: [Double]) -> [UInt8] {
    Array("XYZ ".utf8) + number(0) + values.flatMap { number(Int(($0 * 65536).rounded())) }
  }
  private static func number(_ value: Int) -> [UInt8] {
    let bits = UInt32(truncatingIfNeeded: value)
    return [UInt8(bits >> 24), UInt8(bits >> 16 & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)]
  }
}

@Suite("Whether a colour profile is sRGB")
struct ICCProfileTests {
  static func linear(_ value: Double) -> Double {
    value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
  }

  @Test("sRGB is known by its primaries and its curve, as a formula or as a table of any length")
  func sRGB() {
    #expect(ICCProfile.isSRGB(HandmadeProfile.bytes()))
    for count in [256, 1024, 4096] {
      #expect(ICCProfile.isSRGB(HandmadeProfile.bytes(curve: HandmadeProfile.table(count, Self.linear))), "\(count)")
    }
  }

  @Test("libvips's own sRGB profile is sRGB, and its Display P3 and CMYK are not")
  func real() throws {
    let folder = try Folder()
    let picture = folder.file("grey.png")
    try ffmpeg("-f", "lavfi", "-i", "color=gray:s=8x8", "-frames:v", "1", "-pix_fmt", "rgb24", picture)
    for (name, expected) in [("srgb", true), ("p3", false), ("cmyk", false)] {
      let tagged = folder.file(name + ".jpg")
      try run("vips", "icc_export", picture, tagged, "--output-profile", name)
      let bytes = [UInt8](try run("exiftool", "-b", "-icc_profile", tagged))
      try #require(bytes.count > 200)
      #expect(ICCProfile.isSRGB(bytes) == expected, "\(name)")
    }
  }

  @Test("Other primaries, other curves and tables of their own are not sRGB")
  func others() {
    #expect(!ICCProfile.isSRGB(HandmadeProfile.bytes(red: HandmadeProfile.p3Red)))
    #expect(!ICCProfile.isSRGB(HandmadeProfile.bytes(curve: HandmadeProfile.gamma(2.2))))
    #expect(!ICCProfile.isSRGB(HandmadeProfile.bytes(curve: HandmadeProfile.gamma(1.0))))
    #expect(!ICCProfile.isSRGB(HandmadeProfile.bytes(curve: HandmadeProfile.formula([2.2], type: 0))))
    #expect(!ICCProfile.isSRGB(HandmadeProfile.bytes(extra: ["A2B0"])))
  }

  @Test("What is cut off or makes no sense is not sRGB, and nothing traps")
  func nonsense() {
    let whole = HandmadeProfile.bytes()
    for count in 0..<whole.count { #expect(!ICCProfile.isSRGB(Array(whole.prefix(count))), "\(count)") }
    for index in whole.indices {
      var bytes = whole
      bytes[index] = 0xFF
      _ = ICCProfile.isSRGB(bytes)
    }
    #expect(!ICCProfile.isSRGB(HandmadeProfile.bytes(curve: Array("curv".utf8) + [0, 0, 0, 0, 0, 0, 0, 0])))
  }
}
