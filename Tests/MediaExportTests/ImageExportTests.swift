import ExportProtocol
import Foundation
import TaskModel
import Testing

@Suite("Pictures", .serialized)
struct ImageExportTests {
  private let folder: Folder
  private let output: String
  private static let feed = ImageJob(longEdge: 1000)

  init() throws {
    folder = try Folder()
    output = folder.file("out.part")
  }

  private func failure(_ path: String) -> Failure? {
    #expect(throws: Failure.self) { try Export.image(path, Self.feed, to: output) }
  }

  @Test("B035: each of EXIF's orientations is applied to the pixels", arguments: 1...8)
  func orientation(value: Int) throws {
    let result = try Export.image(Corpus.file("i0\(value)"), Self.feed, to: output)
    let picture = try Picture(output)
    #expect(picture.corners == "RGBY")
    #expect(picture.size == [1000, 667])
    #expect([result.width, result.height] == [1000, 667])
    let left = try run("exiftool", "-s", "-Orientation", output)
    #expect(left.isEmpty)
  }

  @Test("A HEIC that says its rotation twice is turned once")
  func heic() throws {
    _ = try Export.image(Corpus.file("i10"), Self.feed, to: output)
    #expect(try Picture(output).corners == "RGBY")
  }

  @Test("A colour profile is applied before it is dropped")
  func profile() throws {
    _ = try Export.image(Corpus.file("i24"), Self.feed, to: output)
    // The file's profile has red and green swapped.
    #expect(try Picture(output).corners == "GRBY")
  }

  @Test("B037: no private metadata leaves, and the source stays as it was")
  func privacy() throws {
    let source = try Corpus.file("i29")
    let before = try Data(contentsOf: URL(fileURLWithPath: source))
    try #require(try run("exiftool", "-s", "-GPSLatitude", source).count > 0)
    _ = try Export.image(source, Self.feed, to: output)
    let left = try run(
      "exiftool", "-s", "-EXIF:all", "-XMP:all", "-IPTC:all", "-Comment", "-ThumbnailImage", "-ICC_Profile:all", output)
    #expect(String(decoding: left, as: UTF8.self) == "")
    #expect(try Data(contentsOf: URL(fileURLWithPath: source)) == before)
  }

  @Test("B039: what is transparent becomes white", arguments: ["i20", "i21"])
  func alpha(id: String) throws {
    _ = try Export.image(Corpus.file(id), Self.feed, to: output)
    let picture = try Picture(output)
    #expect(picture.centre.allSatisfy { $0 >= 250 }, "\(picture.centre)")
    #expect(picture.corners == "RGBY")
  }

  @Test("16 bits with alpha lie on white too")
  func deepAlpha() throws {
    let source = folder.file("deep.png")
    try run("vips", "colourspace", Corpus.file("i20"), source, "rgb16")
    _ = try Export.image(source, Self.feed, to: output)
    #expect(try Picture(output).centre.allSatisfy { $0 >= 250 })
  }

  @Test("Nothing is enlarged, and a PNG does not leave as a PNG")
  func small() throws {
    let result = try Export.image(Corpus.file("b03"), Self.feed, to: output)
    #expect([result.width, result.height] == [600, 400])
    #expect(result.mime == "image/jpeg")
    #expect(try Data(contentsOf: URL(fileURLWithPath: output)).starts(with: [0xFF, 0xD8, 0xFF]))
  }

  @Test("An avatar is the centre square")
  func square() throws {
    let source = folder.file("wide.png")
    // Red, with a green square in the middle.
    try ffmpeg(
      "-f", "lavfi", "-i", "color=red:s=900x300,drawbox=300:0:300:300:lime:fill", "-frames:v", "1", source)
    let result = try Export.image(source, ImageJob(longEdge: 640, cropSquare: true), to: output)
    #expect([result.width, result.height] == [300, 300])
    let picture = try Picture(output)
    #expect(picture[20, 20][1] > 200 && picture[279, 279][1] > 200)
    let large = try Export.image(source, ImageJob(longEdge: 100, cropSquare: true), to: output)
    #expect([large.width, large.height] == [100, 100])
  }

  @Test("A JPEG cut in the middle is damaged, and not half grey")
  func truncated() throws {
    #expect(failure(try Corpus.file("b16"))?.code == .damaged)
    #expect(!FileManager.default.fileExists(atPath: output))
  }

  @Test("A bomb is refused by its header")
  func bomb() throws {
    #expect(failure(try Corpus.file("b15"))?.code == .tooManyPixels)
  }

  @Test("What is no picture is refused, whatever its name")
  func noPicture() throws {
    #expect(failure(try folder.write("text.jpg", Data("hello".utf8)))?.code == .unsupported)
    #expect(failure(try folder.write("empty.jpg", Data()))?.code == .damaged)
    let svg = #"<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>"#
    #expect(failure(try folder.write("drawing.png", Data(svg.utf8)))?.code == .unsupported)
    #expect(folder.names == ["drawing.png", "empty.jpg", "text.jpg"])
  }

  @Test("A picture is known by its bytes, and its size is the displayed one")
  func probe() throws {
    #expect(
      try Export.probe(Corpus.file("b03")) == MediaFacts(kind: .image, mime: "image/png", width: 600, height: 400))
    #expect(
      try Export.probe(Corpus.file("i06")) == MediaFacts(kind: .image, mime: "image/jpeg", width: 1200, height: 800))
    #expect(try Export.probe(folder.write("x.jpg", Data("hello".utf8))).kind == .other)
  }
}
