import Testing

@testable import MediaExport

/// JPEGs put together by hand: their tables and scans are no real ones, which nobody looks at here.
private struct HandmadeJPEG {
  var parts: [[UInt8]] = [[0xFF, 0xD8]]

  static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
    [0xFF, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 0xFF)] + content
  }
  static let jfif = segment(0xE0, Array("JFIF\0".utf8) + [1, 2, 1, 0, 72, 0, 72, 0, 0])
  static let tables = segment(0xDB, [0, 1, 2, 3]) + segment(0xC4, [0, 5, 6])
  static let scanHeader = segment(0xDA, [3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0])
  static let scan: [UInt8] = [1, 2, 0xFF, 0, 3, 0xFF, 0xD3, 4, 0xFF, 0]
  static let end: [UInt8] = [0xFF, 0xD9]

  static func frame(_ marker: UInt8 = 0xC0, depth: UInt8 = 8, components: [UInt8] = [1, 2, 3]) -> [UInt8] {
    segment(
      marker, [depth, 0, 16, 0, 32, UInt8(components.count)] + components.flatMap { [$0, 0x11, 0] })
  }

  /// Start, what is given, and the usual rest.
  static func with(_ extra: [UInt8], frame: [UInt8] = frame()) -> [UInt8] {
    [0xFF, 0xD8] + extra + tables + frame + scanHeader + scan + end
  }
  static let plain = with(jfif)
}

@Suite("Taking what is private out of a JPEG, byte by byte")
struct JPEGCleanerTests {
  private func stain(_ bytes: [UInt8]) -> JPEGStain? {
    do throws(JPEGStain) { _ = try JPEGCleaner.clean(bytes) } catch { return error }
    return nil
  }

  @Test("A file without metadata stays as it is")
  func plain() throws {
    #expect(try JPEGCleaner.clean(HandmadeJPEG.plain) == HandmadeJPEG.plain)
  }

  @Test("Everything that tells something goes, wherever it stands, and the rest stays byte for byte")
  func metadata() throws {
    let secrets: [[UInt8]] = [
      HandmadeJPEG.segment(0xE1, Array("Exif\0\0MM*".utf8)), HandmadeJPEG.segment(0xE1, Array("http://ns".utf8)),
      HandmadeJPEG.segment(0xE2, Array("MPF\0".utf8)), HandmadeJPEG.segment(0xED, Array("Photoshop".utf8)),
      HandmadeJPEG.segment(0xFE, Array("at home".utf8)), HandmadeJPEG.segment(0xE0, Array("JFXX\0".utf8)),
      HandmadeJPEG.segment(0xEF, []), HandmadeJPEG.segment(0xEE, Array("Ducky".utf8)),
    ]
    let before = HandmadeJPEG.with(HandmadeJPEG.jfif + secrets.flatMap(\.self))
    #expect(try JPEGCleaner.clean(before) == HandmadeJPEG.plain)
    // Between two scans, as progressive pictures may have it, and behind the end.
    let scans = HandmadeJPEG.scanHeader + HandmadeJPEG.scan
    let body = [0xFF, 0xD8] + HandmadeJPEG.jfif + HandmadeJPEG.tables + HandmadeJPEG.frame(0xC2) + scans
    let progressive = body + secrets[4] + secrets[0] + scans + HandmadeJPEG.end + Array("a film".utf8)
    #expect(try JPEGCleaner.clean(progressive) == body + scans + HandmadeJPEG.end)
  }

  @Test("JFIF's preview goes, and JFIF stays")
  func preview() throws {
    let withPreview = Array("JFIF\0".utf8) + [1, 2, 1, 0, 72, 0, 72, 1, 1, 200, 100, 50]
    let cleaned = try JPEGCleaner.clean(HandmadeJPEG.with(HandmadeJPEG.segment(0xE0, withPreview)))
    var jfif = HandmadeJPEG.jfif
    #expect(jfif.suffix(1) == [0] && cleaned.starts(with: [0xFF, 0xD8] + jfif.prefix(16)))
    jfif = Array(jfif.prefix(18))
    #expect(cleaned == HandmadeJPEG.plain && jfif.count == 18)
  }

  @Test("Adobe's word on the colours stays where it says what everybody takes for granted")
  func adobe() throws {
    func adobe(_ transform: UInt8) -> [UInt8] {
      HandmadeJPEG.segment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, transform])
    }
    #expect(try JPEGCleaner.clean(HandmadeJPEG.with(adobe(1))) == HandmadeJPEG.with(adobe(1)))
    #expect(stain(HandmadeJPEG.with(adobe(0))) == .components)
    #expect(stain(HandmadeJPEG.with(adobe(1) + adobe(1))) == .odd)
    #expect(stain(HandmadeJPEG.with(HandmadeJPEG.segment(0xEE, Array("Adobe, and more".utf8)))) == .odd)
  }

  @Test("Without any word on the colours, the numbers of the components decide")
  func componentNumbers() {
    #expect(stain(HandmadeJPEG.with([])) == nil)
    #expect(stain(HandmadeJPEG.with([], frame: HandmadeJPEG.frame(components: Array("RGB".utf8)))) == .components)
    #expect(stain(HandmadeJPEG.with([], frame: HandmadeJPEG.frame(components: [7]))) == nil)
    #expect(stain(HandmadeJPEG.with([], frame: HandmadeJPEG.frame(components: [1, 2, 3, 4]))) == .components)
  }

  @Test("Rare ways of coding are left to the decoder", arguments: [0xC1, 0xC3, 0xC5, 0xC9, 0xCA, 0xCB, 0xCC])
  func coding(marker: UInt8) {
    #expect(stain(HandmadeJPEG.with([], frame: HandmadeJPEG.frame(marker))) == .coding)
  }

  @Test("12 bits are left to the decoder")
  func depth() { #expect(stain(HandmadeJPEG.with([], frame: HandmadeJPEG.frame(depth: 12))) == .coding) }

  @Test("Cut anywhere, it is refused and nothing traps")
  func cut() {
    for count in 0..<HandmadeJPEG.plain.count {
      #expect(stain(Array(HandmadeJPEG.plain.prefix(count))) != nil, "\(count)")
    }
  }

  @Test("With any one byte changed, it is refused or well-formed, and nothing traps")
  func flipped() {
    for index in HandmadeJPEG.plain.indices {
      for value: UInt8 in [0, 1, 0x7F, 0xD9, 0xDA, 0xE1, 0xFE, 0xFF] {
        var bytes = HandmadeJPEG.plain
        bytes[index] = value
        guard let cleaned = try? JPEGCleaner.clean(bytes) else { continue }
        #expect(cleaned.count <= bytes.count && (try? JPEGCleaner.clean(cleaned)) == cleaned, "\(index) \(value)")
      }
    }
  }

  @Test("Two frames, no frame, a height that comes later and two EXIFs are odd")
  func odd() {
    let frame = HandmadeJPEG.frame()
    #expect(stain(HandmadeJPEG.with([], frame: frame + frame)) == .odd)
    #expect(stain(HandmadeJPEG.with([], frame: [])) == .odd)
    #expect(stain([0xFF, 0xD8] + frame + HandmadeJPEG.end) == .odd)
    var late = frame
    late[6] = 0
    #expect(stain(HandmadeJPEG.with([], frame: late)) == .odd)
    let exif = HandmadeJPEG.segment(0xE1, Array("Exif\0\0".utf8))
    #expect(stain(HandmadeJPEG.with(exif)) == nil)
    #expect(stain(HandmadeJPEG.with(exif + exif)) == .odd)
    #expect(stain(HandmadeJPEG.with([0xFF, 0xFF] + HandmadeJPEG.jfif)) == .odd)
    #expect(stain(Array("\u{89}PNG".utf8)) == .noJPEG)
  }

  @Test("A profile that is cut, out of order or not sRGB is one for the encoder")
  func profiles() {
    func chunk(_ number: UInt8, of count: UInt8, _ content: [UInt8]) -> [UInt8] {
      HandmadeJPEG.segment(0xE2, Array("ICC_PROFILE\0".utf8) + [number, count] + content)
    }
    let profile = HandmadeProfile.bytes()
    #expect(stain(HandmadeJPEG.with(chunk(1, of: 1, profile))) == nil)
    let halves = chunk(1, of: 2, Array(profile.prefix(100))) + chunk(2, of: 2, Array(profile.dropFirst(100)))
    #expect(stain(HandmadeJPEG.with(halves)) == nil)
    #expect(stain(HandmadeJPEG.with(chunk(1, of: 2, profile))) == .profile)
    #expect(stain(HandmadeJPEG.with(chunk(2, of: 2, profile) + chunk(1, of: 2, profile))) == .profile)
    #expect(stain(HandmadeJPEG.with(chunk(1, of: 1, []))) == .profile)
    #expect(stain(HandmadeJPEG.with(chunk(1, of: 1, HandmadeProfile.bytes(red: HandmadeProfile.p3Red)))) == .profile)
  }
}
