import MediaTypes
import Testing

@Suite("What a file is, by its first bytes")
struct MediaTypeTests {
  private static func box(_ kind: String, _ major: String, _ others: String...) -> [UInt8] {
    let body = Array(kind.utf8) + Array(major.utf8) + [0, 0, 0, 0] + others.flatMap { Array($0.utf8) }
    return [0, 0, 0, UInt8(body.count + 4)] + body
  }

  private static let known: [(bytes: [UInt8], mime: String, family: MediaType.Family)] = [
    ([0xFF, 0xD8, 0xFF, 0xE1], "image/jpeg", .image),
    (Array("GIF89a".utf8), "image/gif", .image),
    (Array("RIFF....WEBP".utf8), "image/webp", .image),
    (Array("RIFF....WAVE".utf8), "audio/wav", .audio),
    (Array("RF64....WAVE".utf8), "audio/wav", .audio),
    (Array("FORM....AIFF".utf8), "audio/aiff", .audio),
    (Array("FORM....AIFC".utf8), "audio/aiff", .audio),
    (Array("caff\u{0}\u{1}".utf8), "audio/x-caf", .audio),
    (Array("II+\u{0}\u{8}\u{0}".utf8), "image/tiff", .image),
    (Array("RIFF....AVI ".utf8), "video/x-msvideo", .video),
    (box("ftyp", "heic"), "image/heic", .image),
    (box("ftyp", "mif1", "mif1", "avif"), "image/avif", .image),
    (box("ftyp", "M4A "), "audio/mp4", .audio),
    (box("ftyp", "qt  "), "video/quicktime", .video),
    (box("ftyp", "isom"), "video/mp4", .video),
    (box("moov", "    "), "video/quicktime", .video),
    ([0xFF, 0xFB, 0x90, 0x64], "audio/mpeg", .audio),
    ([0xFF, 0xF1, 0x50, 0x80], "audio/aac", .audio),
    ([0x1A, 0x45, 0xDF, 0xA3] + Array("....webm".utf8), "video/webm", .video),
    ([0x28, 0xB5, 0x2F, 0xFD], "application/zstd", .other),
  ]

  @Test("each format has its name", arguments: known.indices)
  func formats(_ index: Int) {
    let (bytes, mime, family) = Self.known[index]
    let type = MediaType.of(bytes)
    #expect(type.mime == mime && type.family == family)
    // What is cut off before it says enough is no format, and no crash.
    for end in 0..<min(2, bytes.count) { #expect(MediaType.of(Array(bytes[..<end])) == .unknown) }
  }

  @Test("text is no medium, also where it begins with a byte order mark that looks like a sync word")
  func text() {
    #expect(MediaType.of(Array("hello, world".utf8)) == .unknown)
    #expect(MediaType.of([0xFF, 0xFE] + Array("h\u{0}e\u{0}".utf8)) == .unknown)
    #expect(MediaType.of([0xEF, 0xBB, 0xBF] + Array("hello".utf8)) == .unknown)
    #expect(MediaType.of([]) == .unknown)
  }

  @Test("a box that lies about its length is read as far as the bytes go")
  func lyingBox() {
    for length: [UInt8] in [[0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0], [0, 0, 0, 17]] {
      #expect(MediaType.of(length + Array("ftypmif1....mif1".utf8)).mime == "image/heic")
    }
  }

  @Test("what is dense already is known, so that nobody deflates it")
  func dense() {
    let film = MediaType.of(Self.box("ftyp", "isom"))
    #expect(film.isCompressed && MediaType.of([0x1F, 0x8B, 8]).isCompressed)
    #expect(!MediaType.unknown.isCompressed && !MediaType.of(Array("RIFF....WAVE".utf8)).isCompressed)
    #expect(!MediaType.of(Array("%PDF-1.7".utf8)).isCompressed)
  }
}
