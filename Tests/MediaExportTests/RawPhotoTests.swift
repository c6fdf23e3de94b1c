import Testing

@testable import MediaExport

@Suite("Raw photos among TIFFs")
struct RawPhotoTests {
  /// A TIFF's head with one entry in its directory.
  private static func tiff(_ tag: Int, _ value: UInt8, isLittle: Bool = true, mark: [UInt8] = [0, 0]) -> [UInt8] {
    func field(_ value: Int, _ size: Int) -> [UInt8] {
      let bytes = (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
      return isLittle ? bytes : bytes.reversed()
    }
    let order = Array((isLittle ? "II" : "MM").utf8)
    return order + field(42, 2) + field(10, 4) + mark + field(1, 2) + field(tag, 2) + field(4, 2) + field(1, 4)
      + field(Int(value), 4)
  }

  private func isRaw(_ bytes: [UInt8]) -> Bool {
    RawPhoto.isOne { offset, count in offset < bytes.count ? Array(bytes[Int(offset)...].prefix(count)) : [] }
  }

  @Test("A DNG, a preview in the first place, and a CR2 are raw", arguments: [true, false])
  func raw(isLittle: Bool) {
    #expect(isRaw(Self.tiff(50706, 1, isLittle: isLittle)))
    #expect(isRaw(Self.tiff(254, 1, isLittle: isLittle)))
    #expect(isRaw(Self.tiff(256, 1, isLittle: isLittle, mark: Array("CR".utf8))))
  }

  @Test("A page is not, nor is what is no TIFF or ends too early")
  func others() {
    #expect(!isRaw(Self.tiff(254, 2)))
    #expect(!isRaw(Self.tiff(256, 1)))
    #expect(!isRaw(Array(Self.tiff(50706, 1).dropLast(1))))
    #expect(!isRaw([]))
    #expect(!isRaw([UInt8](repeating: 0xFF, count: 64)))
  }
}
