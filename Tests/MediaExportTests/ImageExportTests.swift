import ExportProtocol
import Foundation
import TaskModel
import Testing

@testable import MediaExport

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

  @Test("A grey picture with a profile for colours is shown as it is")
  func greyWithColourProfile() throws {
    // FFmpeg finds no frame in it by the name of a JPEG.
    let source = folder.file("grey.part")
    try ffmpeg("-f", "lavfi", "-i", "color=0x646464:s=320x240,format=gray", "-frames:v", "1", folder.file("grey.png"))
    try run("vips", "jpegsave", folder.file("grey.png"), source, "--strip")
    let grey = try Picture(source).centre
    let profile = try folder.write("p3.icc", Data(HandmadeProfile.displayP3))
    try run("exiftool", "-q", "-overwrite_original", "-icc_profile<=" + profile, source)
    _ = try Export.image(source, Self.feed, to: output)
    #expect(zip(try Picture(output).centre, grey).allSatisfy { abs($0 - $1) <= 3 })
  }

  @Test("Of a TIFF that holds itself in smaller sizes the picture itself is taken", arguments: [200, 2048])
  func pyramid(longEdge: Int) throws {
    let source = folder.file("pyramid.tif")
    try run("vips", "tiffsave", Corpus.file("i01"), source, "--tile", "--pyramid", "--compression", "deflate")
    let result = try Export.image(source, ImageJob(longEdge: longEdge), to: output)
    #expect(result.width == min(longEdge, 1200))
    #expect(try Picture(output).corners == "RGBY")
  }

  @Test("16 bits with alpha lie on white too")
  func deepAlpha() throws {
    let source = folder.file("deep.png")
    try run("vips", "colourspace", Corpus.file("i20"), source, "rgb16")
    _ = try Export.image(source, Self.feed, to: output)
    #expect(try Picture(output).centre.allSatisfy { $0 >= 250 })
  }

  // MARK: Colours

  /// The values that are right were calculated from the colour spaces' definitions by another program, and the stored ones
  /// are such that JPEG's YCbCr can say them exactly.
  static let patches: [(space: String, profile: [UInt8], stored: String, shown: [Int])] = [
    ("Display P3", HandmadeProfile.displayP3, "0x64965B", [84, 152, 84]),
    ("Display P3", HandmadeProfile.displayP3, "0xB45A50", [194, 83, 75]),
    ("Display P3, outside of sRGB", HandmadeProfile.displayP3, "0x28C878", [0, 204, 112]),
    ("Adobe RGB", HandmadeProfile.adobeRGB, "0xB45A50", [205, 90, 79]),
    ("sRGB", HandmadeProfile.bytes(), "0x64965B", [100, 150, 91]),
    (
      "sRGB by a table", HandmadeProfile.bytes(curve: HandmadeProfile.table(1024, ICCProfileTests.linear)), "0xB45A50",
      [180, 90, 80]
    ),
  ]

  @Test("B040: colours are shown as they were meant, within 3 levels", arguments: patches.indices, [64, 1000])
  func colours(index: Int, longEdge: Int) throws {
    let (space, profile, stored, shown) = Self.patches[index]
    let source = folder.file("patch.jpg")
    try ffmpeg(
      "-f", "lavfi", "-i", "color=\(stored):s=320x240,format=rgb24", "-frames:v", "1", folder.file("patch.png"))
    try run("vips", "jpegsave", folder.file("patch.png"), source, "--Q", "100", "--strip")
    try run(
      "exiftool", "-q", "-overwrite_original", "-icc_profile<=" + folder.write("patch.icc", Data(profile)), source)
    // JPEG's own rounding must not hide what happens to the colours.
    let result = try Export.image(source, ImageJob(longEdge: longEdge, quality: 100), to: output)
    #expect((result.rung == "pass") == (space.hasPrefix("sRGB") && longEdge == 1000), "\(space): \(result.rung)")
    let centre = try Picture(output).centre
    #expect(zip(centre, shown).allSatisfy { abs($0 - $1) < 3 }, "\(space): \(centre) and not \(shown)")
    #expect(try run("exiftool", "-s", "-ICC_Profile:all", output).isEmpty)
  }

  // MARK: Passing on

  @Test("A small clean JPEG goes out with the very pixels that it has, without a byte of metadata")
  func pass() throws {
    let source = try Corpus.file("i36")
    let result = try Export.image(source, Self.feed, to: output)
    #expect(result.rung == "pass" && result.mime == "image/jpeg")
    #expect([result.width, result.height] == [640, 480])
    let before = try Data(contentsOf: URL(fileURLWithPath: source))
    let after = try Data(contentsOf: URL(fileURLWithPath: output))
    #expect(result.size == Int64(after.count) && after.count <= before.count)
    #expect(try scan(of: after) == scan(of: before))
  }

  @Test("What is private goes, whatever the way out", arguments: [200, 1000])
  func secrets(longEdge: Int) throws {
    let source = folder.file("secret.jpg")
    try FileManager.default.copyItem(atPath: Corpus.file("i36"), toPath: source)
    try FileManager.default.copyItem(atPath: Corpus.file("b03"), toPath: folder.file("preview.png"))
    try run("vips", "thumbnail", folder.file("preview.png"), folder.file("preview.jpg"), "160")
    try run(
      "exiftool", "-q", "-overwrite_original", "-n", "-GPSLatitude=59.9", "-GPSLongitude=30.3",
      "-XMP:City=SECRETPLACE", "-IPTC:City=SECRETPLACE", "-Comment=SECRETPLACE", "-UserComment=SECRETPLACE",
      "-Make=SECRETPLACE", "-ThumbnailImage<=" + folder.file("preview.jpg"), source)
    // As a "motion photo" has it.
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: source))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("a film of the SECRETPLACE".utf8))
    try handle.close()
    try #require(try contains(source, "SECRETPLACE") && contains(source, "Exif"))
    let result = try Export.image(source, ImageJob(longEdge: longEdge), to: output)
    #expect(result.rung == (longEdge == 200 ? "200" : "pass"))
    let left = ["SECRETPLACE", "Exif", "GPS", "http", "Photoshop", "8BIM"].filter {
      (try? contains(output, $0)) != false
    }
    #expect(left == [])
    // The preview is a JPEG of its own.
    let starts = try Data(contentsOf: URL(fileURLWithPath: output)).occurrences(of: [0xFF, 0xD8, 0xFF])
    #expect(starts == 1)
  }

  @Test("What tells a place in a PNG stays at home")
  func textOfPNG() throws {
    let source = folder.file("secret.png")
    try FileManager.default.copyItem(atPath: Corpus.file("b03"), toPath: source)
    try run(
      "exiftool", "-q", "-overwrite_original", "-PNG:Comment=SECRETPLACE", "-XMP:City=SECRETPLACE",
      "-EXIF:UserComment=SECRETPLACE", source)
    try #require(try contains(source, "SECRETPLACE"))
    _ = try Export.image(source, Self.feed, to: output)
    #expect(try !contains(output, "SECRETPLACE") && !contains(output, "Exif"))
  }

  @Test(
    "What is not clean is encoded",
    arguments: [
      ("i06", "turned"), ("i15", "CMYK"), ("i22", "Display P3"), ("i23", "Adobe RGB"), ("i24", "swapped colours"),
    ])
  func unclean(id: String, why: String) throws {
    let result = try Export.image(Corpus.file(id), ImageJob(longEdge: 4000), to: output)
    #expect(result.rung == "4000", "\(why)")
  }

  @Test(
    "Progressive and grey pictures, films behind a picture and second pictures do not hinder it",
    arguments: ["i17", "i18", "i27", "i28", "i29"])
  func clean(id: String) throws {
    let source = try Corpus.file(id)
    let result = try Export.image(source, ImageJob(longEdge: 4000), to: output)
    #expect(result.rung == "pass")
    let after = try Data(contentsOf: URL(fileURLWithPath: output))
    #expect(after.suffix(2) == Data([0xFF, 0xD9]) && after.occurrences(of: [0xFF, 0xD8, 0xFF]) == 1)
    // The source may hold previews, with scans of their own.
    let before = try Data(contentsOf: URL(fileURLWithPath: source))
    #expect(before.range(of: try scan(of: after)) != nil)
    let left = try run("exiftool", "-s", "-EXIF:all", "-XMP:all", "-MPF:all", "-Trailer:all", "-Comment", output)
    #expect(left.isEmpty, "\(String(decoding: left, as: UTF8.self))")
  }

  @Test("An avatar is always encoded")
  func avatar() throws {
    let result = try Export.image(Corpus.file("i36"), ImageJob(longEdge: 640, cropSquare: true), to: output)
    #expect(result.rung == "640" && result.width == result.height)
  }

  @Test("Well-formed parts about which the decoder complains are not passed on but encoded")
  func broken() throws {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: Corpus.file("i36")))
    let start = try #require(bytes.range(of: Data([0xFF, 0xDA])))
    // Restarts that nobody announced: the walk lets them through, the decoder does not.
    bytes.insert(contentsOf: [0xFF, 0xD0], at: start.upperBound + 2000)
    let source = try folder.write("broken.jpg", bytes)
    #expect(try Export.plan(source, .image(Self.feed)).action == .pass)
    let result = try Export.image(source, Self.feed, to: output)
    #expect(result.rung == "1000" && result.width == 640)
    #expect(try Picture(output).size == [640, 480])
  }

  @Test("A clean JPEG that would grow is sent as it is, cleaned")
  func growing() throws {
    let source = folder.file("crude.jpg")
    try ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=s=2000x2000,noise=alls=60", "-frames:v", "1", "-pix_fmt", "yuvj420p",
      folder.file("crude.png"))
    try run("vips", "jpegsave", folder.file("crude.png"), source, "--Q", "30", "--strip")
    try run("exiftool", "-q", "-overwrite_original", "-Comment=SECRETPLACE", source)
    let before = try Data(contentsOf: URL(fileURLWithPath: source))
    try #require(before.count > 300 << 10)
    let result = try Export.image(source, ImageJob(longEdge: 2048), to: output)
    #expect(result.rung == "pass" && result.size < Int64(before.count))
    #expect(try !contains(output, "SECRETPLACE"))
    // Where the pixels have to change there is nothing to go back to.
    let smaller = try Export.image(source, ImageJob(longEdge: 1900), to: output)
    #expect(smaller.rung == "1900" && smaller.width == 1900)
  }

  /// The coded pixels of a JPEG's first picture, to its end.
  private func scan(of jpeg: Data) throws -> Data {
    let start = try #require(jpeg.range(of: Data([0xFF, 0xDA])))
    let end = try #require(jpeg.range(of: Data([0xFF, 0xD9]), in: start.upperBound..<jpeg.endIndex))
    return jpeg[start.lowerBound..<end.upperBound]
  }

  // MARK: HEIC

  @Test("HEIC on demand: upright, with the right colours, without metadata", arguments: ["i06", "i20", "i22", "i29"])
  func heicOutput(id: String) throws {
    let result = try Export.image(Corpus.file(id), ImageJob(longEdge: 600, format: .heic), to: output)
    #expect(result.mime == "image/heic" && result.rung == "600" && result.blurhash?.count == 28)
    #expect([result.width, result.height] == [600, 400])
    // FFmpeg of this age can't decode it.
    let back = folder.file("back.png")
    try run("vips", "copy", output, back)
    let picture = try Picture(back)
    #expect(picture.size == [600, 400] && picture.corners == "RGBY")
    if id == "i20" { #expect(picture.centre.allSatisfy { $0 >= 240 }) }
    let left = try run("exiftool", "-s", "-EXIF:all", "-XMP:all", "-ICC_Profile:all", output)
    #expect(left.isEmpty, "\(String(decoding: left, as: UTF8.self))")
  }

  @Test("A picture of one pixel becomes a HEIC, too")
  func tinyHEIC() throws {
    let result = try Export.image(Corpus.file("i26"), ImageJob(longEdge: 600, format: .heic), to: output)
    #expect([result.width, result.height] == [1, 1] && result.mime == "image/heic")
  }

  // MARK: Sizes

  @Test("What is announced is what comes out", arguments: ["i01", "i06", "i10", "i20", "i31", "i32", "i36"])
  func plan(id: String) throws {
    let source = try Corpus.file(id)
    for job in [ImageJob(longEdge: 500), ImageJob(longEdge: 4000), ImageJob(longEdge: 64, cropSquare: true)] {
      let plan = try Export.plan(source, .image(job))
      let result = try Export.image(source, job, to: output)
      #expect([plan.width, plan.height] == [result.width, result.height] && plan.rung == result.rung)
      #expect((plan.action == .pass) == (result.rung == "pass"))
    }
  }

  @Test("Every picture has a blurhash, passed on or not, grey or transparent", arguments: ["i01", "i18", "i20", "i36"])
  func blurhash(id: String) throws {
    #expect(try Export.image(Corpus.file(id), Self.feed, to: output).blurhash?.count == 28)
  }

  @Test("What the first picture of a GIF leaves of its canvas is white", arguments: [40, 1000])
  func smallFirstPicture(edge: Int) throws {
    // 100 × 80, all red; then the canvas grows around it.
    let whole = folder.file("whole.gif")
    try run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "color=red:s=100x80", "-frames:v", "1", whole)
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: whole)))
    bytes[6] = 200
    bytes[8] = 160
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: [0x2C, 0, 0, 0, 0, 100, 0, 80, 0]) })
    bytes[place + 1] = 50
    let path = try folder.write("small.gif", Data(bytes))
    let result = try Export.image(path, ImageJob(longEdge: edge), to: output)
    #expect(result.width == min(edge, 200))
    func check(_ picture: Picture) {
      let scale = Double(picture.width) / 200
      func at(_ x: Int, _ y: Int) -> [Int] { picture[Int(Double(x) * scale), Int(Double(y) * scale)] }
      for corner in [at(10, 10), at(190, 10), at(10, 150), at(100, 120)] { #expect(corner.allSatisfy { $0 > 240 }) }
      #expect(at(100, 40)[0] > 200 && at(100, 40)[1] < 60)
    }
    check(try Picture(output))
    _ = try Export.thumbnail(path, ThumbnailJob(edge: 64), to: output)
    check(try Picture(output))
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
