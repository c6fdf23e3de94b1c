import Testing

@testable import MediaExport

@Suite("Whether a container's outermost parts are all there")
struct OuterPartsTests {
  private func isCutOff(_ bytes: [UInt8], size: Int? = nil) -> Bool {
    OuterParts.areCutOff(size: Int64(size ?? bytes.count), neededShare: 0.9) { offset, count in
      offset < bytes.count ? Array(bytes[Int(offset)...].prefix(count)) : []
    }
  }

  private static func riff(_ length: [UInt8], _ body: Int) -> [UInt8] {
    Array("RIFF".utf8) + length + Array("WAVE".utf8) + [UInt8](repeating: 0, count: body - 4)
  }

  private static func box(_ kind: String, _ body: Int) -> [UInt8] {
    [0, 0, 0, UInt8(body + 8)] + Array(kind.utf8) + [UInt8](repeating: 0, count: body)
  }

  @Test("A RIFF may lack a tenth, and its length may be unknown")
  func riff() {
    #expect(!isCutOff(Self.riff([100, 0, 0, 0], 100)))
    #expect(!isCutOff(Self.riff([110, 0, 0, 0], 100)))
    #expect(isCutOff(Self.riff([120, 0, 0, 0], 100)))
    #expect(!isCutOff(Self.riff([0xFF, 0xFF, 0xFF, 0xFF], 100)))
    #expect(!isCutOff(Self.riff([0, 0, 0, 0], 100)))
    #expect(isCutOff(Self.riff([100, 0, 0, 0], 100) + Self.riff([0xE8, 3, 0, 0], 100)))
  }

  @Test("A fragment has to be whole; a film without fragments has an index of its own")
  func fragments() {
    let start = Self.box("ftyp", 16) + Self.box("moov", 40)
    let parts = start + Self.box("moof", 20) + Self.box("mdat", 100)
    #expect(!isCutOff(parts))
    #expect(isCutOff(parts.dropLast(1)))
    #expect(isCutOff(Array(parts.prefix(start.count + 28 + 5))))
    #expect(!isCutOff((start + Self.box("mdat", 100)).dropLast(50)))
  }

  @Test("Nonsense is for others to judge")
  func nonsense() {
    #expect(!isCutOff([]))
    #expect(!isCutOff([UInt8](repeating: 0xFF, count: 64)))
    #expect(!isCutOff(Self.box("ftyp", 16) + [0, 0, 0, 1] + Array("mdat".utf8) + [UInt8](repeating: 0xFF, count: 8)))
    #expect(!isCutOff(Self.box("ftyp", 16) + Self.box("moof", 20) + [0, 0, 0, 3] + Array("mdat".utf8)))
  }

  private func isCutOff(_ bytes: ArraySlice<UInt8>) -> Bool { isCutOff(Array(bytes)) }
}
