import ExportProtocol
import Foundation
import TaskModel
import Testing

@testable import MediaExport

@Suite("Posters and thumbnails", .serialized)
struct PosterTests {
  private let folder: Folder
  private let output: String

  init() throws {
    folder = try Folder()
    output = folder.file("out.part")
  }

  @Test(
    "A film's poster is upright, with square pixels and the colours of its export",
    arguments: ["v01", "v02", "v03", "v04", "v05", "v06", "v07", "v08", "v40"])
  func poster(id: String) throws {
    let source = try Corpus.file(id)
    let facts = try Export.probe(source)
    let result = try Export.poster(source, to: output)
    let picture = try Picture(output)
    #expect(picture.corners == "RGBY")
    #expect(result.mime == "image/jpeg" && result.rung == "poster" && result.blurhash?.count == 28)
    #expect([result.width, result.height] == [picture.width, picture.height])
    #expect(result.size == Int64(try Data(contentsOf: URL(fileURLWithPath: output)).count))
    #expect(max(picture.width, picture.height) <= 1280)
    let (width, height) = (try #require(facts.width), try #require(facts.height))
    let drift = Double(picture.width) / Double(picture.height) - Double(width) / Double(height)
    #expect(abs(drift) < 0.03)
  }

  @Test("What is black at the beginning does not stand for the film")
  func blackStart() throws {
    let source = folder.file("late.mp4")
    try ffmpeg(
      "-f", "lavfi", "-i", "color=black:s=320x240:r=10:d=4", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=10:d=4",
      "-filter_complex", "[0][1]concat=n=2:v=1", "-c:v", "libx264", "-pix_fmt", "yuv420p", source)
    _ = try Export.poster(source, to: output)
    let picture = try Picture(output)
    let brightness = (0..<240).flatMap { y in (0..<320).map { x in picture[x, y].reduce(0, +) } }
    #expect(brightness.reduce(0, +) / brightness.count > 150)
  }

  @Test("A film that is black throughout has a black poster")
  func allBlack() throws {
    let source = folder.file("black.mp4")
    try ffmpeg(
      "-f", "lavfi", "-i", "color=black:s=64x64:r=10:d=3", "-c:v", "libx264", "-pix_fmt", "yuv420p", source)
    let result = try Export.poster(source, to: output)
    #expect([result.width, result.height] == [64, 64])
    #expect(try Picture(output).centre.allSatisfy { $0 < 8 })
  }

  @Test("A film of one frame has a poster")
  func oneFrame() throws {
    let source = folder.file("one.mp4")
    try ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=s=64x64:r=1:d=1", "-frames:v", "1", "-c:v", "libx264", "-pix_fmt", "yuv420p",
      source)
    #expect(try Export.poster(source, to: output).width == 64)
  }

  @Test("Sound alone has no poster, and what is no medium has none either")
  func noVideo() throws {
    let failure = #expect(throws: Failure.self) { try Export.poster(Corpus.file("a05"), to: output) }
    #expect(failure?.code == .noVideo)
    let text = try folder.write("text.mp4", Data("hello".utf8))
    let other = #expect(throws: Failure.self) { try Export.poster(text, to: output) }
    #expect(other?.code == .unsupported)
    let empty = try folder.write("empty.jpg", Data())
    let third = #expect(throws: Failure.self) { try Export.thumbnail(empty, to: output) }
    #expect(third?.code == .damaged)
    #expect(folder.names == ["empty.jpg", "text.mp4"])
  }

  @Test(
    "A thumbnail fits its box, upright and in sRGB, of a picture or a film",
    arguments: [
      ("i06", [320, 213]), ("i10", [320, 213]), ("i20", [320, 213]), ("i22", [320, 213]), ("v02", [180, 320]),
    ])
  func thumbnail(id: String, size: [Int]) throws {
    let result = try Export.thumbnail(Corpus.file(id), to: output)
    let picture = try Picture(output)
    #expect(picture.size == size && [result.width, result.height] == size)
    #expect(picture.corners == "RGBY")
    #expect(result.rung == "thumbnail" && result.blurhash?.count == 28)
    #expect(try !contains(output, "Exif"))
  }

  @Test("A long screenshot fits the box, too, and a tiny picture is not enlarged")
  func odd() throws {
    let long = try Export.thumbnail(Corpus.file("i32"), to: output)
    #expect(long.height == 320)
    let tiny = try Export.thumbnail(Corpus.file("i26"), to: output)
    #expect([tiny.width, tiny.height] == [1, 1])
  }

  @Test("A damaged or oversized picture is refused as its export would be")
  func refused() throws {
    let cut = #expect(throws: Failure.self) { try Export.thumbnail(Corpus.file("b16"), to: output) }
    #expect(cut?.code == .damaged)
    let bomb = #expect(throws: Failure.self) { try Export.thumbnail(Corpus.file("b15"), to: output) }
    #expect(bomb?.code == .tooManyPixels)
    #expect(folder.names == [])
  }

  @Test("A finished film has a blurhash, and what is none has none")
  func blurhash() throws {
    let source = try Corpus.file("v01")
    #expect(Preview.blurhash(filmPath: source)?.count == 28)
    #expect(Preview.blurhash(filmPath: folder.file("missing")) == nil)
    #expect(try Preview.blurhash(filmPath: folder.write("text", Data("hello".utf8))) == nil)
  }

  @Test("Ten moments are looked at, from the first second on")
  func moments() {
    #expect(PosterChoice.times(duration: 101) == (0..<10).map { 1 + Double($0) * 10 })
    #expect(PosterChoice.times(duration: 2).first == 0.2)
    #expect(PosterChoice.times(duration: nil) == (0..<10).map(Double.init))
  }

  @Test("Black, white and grey tell nothing; a pattern does")
  func variation() throws {
    func picture(_ value: (Int) -> UInt8) throws -> RGBPicture {
      try #require(
        RGBPicture(width: 64, height: 64, bytes: (0..<64 * 64).flatMap { [value($0), value($0), value($0)] }))
    }
    for level in [UInt8(0), 128, 255] {
      #expect(!PosterChoice.isTelling(PosterChoice.variation(try picture { _ in level })))
    }
    #expect(!PosterChoice.isTelling(PosterChoice.variation(try picture { UInt8(16 + $0 % 8) })))
    #expect(PosterChoice.isTelling(PosterChoice.variation(try picture { $0 % 64 < 32 ? 40 : 90 })))
  }
}
