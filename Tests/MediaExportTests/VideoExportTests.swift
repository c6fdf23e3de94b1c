import ExportProtocol
import Foundation
import TaskModel
import Testing

@Suite("Videos", .serialized)
struct VideoExportTests {
  private let folder: Folder
  private let output: String
  private static let feed = box(960, 540, .never)

  private static func box(_ longSide: Int, _ shortSide: Int, _ remux: VideoBox.Remux, crf: Int = 23) -> VideoJob {
    VideoJob(.box(VideoBox(longSide: longSide, shortSide: shortSide, remux: remux)), crf: crf)
  }

  init() throws {
    folder = try Folder()
    output = folder.file("out.part")
  }

  /// A clip with a tone, H.264 and AAC.
  private func clip(_ size: String, seconds: Int = 1, _ more: String...) throws -> String {
    let path = folder.file("clip.mp4")
    try run(
      "ffmpeg",
      ["-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=s=\(size):r=30:d=\(seconds)"]
        + ["-f", "lavfi", "-i", "sine=d=\(seconds)", "-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p"]
        + ["-c:a", "aac"] + more + [path])
    return path
  }

  private func failure(_ path: String, _ job: VideoJob = feed) -> Failure? {
    #expect(throws: Failure.self) { try Export.video(path, job, to: output) }
  }

  @Test(
    "B030: rotation is applied to pixels once, and mirrored selfies stay upright",
    arguments: ["v02", "v03", "v04", "v05"])
  func rotation(id: String) throws {
    let source = try Corpus.file(id)
    let result = try Export.video(source, Self.feed, to: output)
    let isPortrait = id == "v02" || id == "v04"
    #expect([result.width, result.height] == (isPortrait ? [540, 960] : [960, 540]))
    let picture = try Picture(output, at: 0.5)
    #expect(picture.corners == "RGBY")
    #expect(picture.width == result.width && picture.height == result.height)
    #expect(try MediaInfo(output).stream("video")["side_data_list"] == nil)
  }

  @Test("B034: HDR becomes SDR, tone mapped and tagged BT.709", arguments: ["v07", "v08", "v47"])
  func hdr(id: String) throws {
    _ = try Export.video(Corpus.file(id), Self.feed, to: output)
    let video = try MediaInfo(output).stream("video")
    #expect(video["pix_fmt"] as? String == "yuv420p")
    #expect(video["color_transfer"] as? String == "bt709")
    #expect(video["color_primaries"] as? String == "bt709")
    #expect(video["color_space"] as? String == "bt709")
    #expect(try Picture(output, at: 0.5).corners == "RGBY")
  }

  @Test("Full range and BT.601 come out with the colours they had")
  func fullRange() throws {
    _ = try Export.video(Corpus.file("v40"), Self.feed, to: output)
    let picture = try Picture(output, at: 1)
    for (pixel, expected) in [(picture[10, 10], [255, 0, 0]), (picture[10, picture.height - 11], [0, 0, 255])] {
      #expect(zip(pixel, expected).allSatisfy { abs($0 - $1) <= 12 }, "\(pixel)")
    }
  }

  @Test("Odd sides become even and nothing is enlarged")
  func oddSides() throws {
    let result = try Export.video(
      Corpus.file("v09"), Self.box(1280, 720, .never), to: output)
    #expect([result.width, result.height] == [852, 480])
  }

  @Test("A clean clip is passed on without its metadata, with its index at the front")
  func remux() throws {
    let source = try clip(
      "640x360", "-metadata", "title=secret", "-metadata", "location=+59.9000+030.3000/", "-metadata", "comment=secret")
    try #require(try contains(source, "secret"))
    let result = try Export.video(
      source, Self.box(960, 540, .ifClean), to: output)
    #expect(result.rung == "remux")
    #expect(try !contains(output, "secret"))
    #expect(try !contains(output, "+59.9"))
    #expect(try !contains(output, "Lavf"))
    let order = try boxes(output)
    #expect(try #require(order.firstIndex(of: "moov")) < #require(order.firstIndex(of: "mdat")))
    #expect(abs(try MediaInfo(output).duration - 1) < 0.1)
    #expect(result.size == (try FileManager.default.attributesOfItem(atPath: output)[.size] as? Int64))
  }

  @Test("B028: a small clip does not grow")
  func noGrowth() throws {
    let source = try clip("640x360", seconds: 4, "-crf", "40")
    let before = try #require(try FileManager.default.attributesOfItem(atPath: source)[.size] as? Int64)
    let result = try Export.video(
      source, Self.box(1280, 720, .never, crf: 18), to: output)
    #expect(result.size <= before)
    #expect([result.width, result.height] == [640, 360])
  }

  @Test("What an edit list cut away does not leave")
  func editList() throws {
    let result = try Export.video(
      Corpus.file("v20"), Self.box(1280, 720, .ifClean), to: output)
    #expect(result.rung == "1280x720")
    #expect(abs(try MediaInfo(output).duration - 3) < 0.15)
  }

  @Test(
    "A film cut off in the middle is damaged, whether it would be encoded or passed on",
    arguments: VideoBox.Remux.allCases)
  func truncated(remux: VideoBox.Remux) throws {
    let job = Self.box(960, 540, remux)
    #expect(failure(try Corpus.file("b06"), job)?.code == .damaged)
    #expect(!FileManager.default.fileExists(atPath: output))
  }

  @Test("Sound alone is no film, even with a cover")
  func noVideo() throws {
    #expect(failure(try Corpus.file("v25"))?.code == .noVideo)
  }

  @Test("What is no film is refused in words, and nothing is left behind")
  func noFilm() throws {
    #expect(failure(try folder.write("empty.mp4", Data()))?.code == .damaged)
    let text = failure(try folder.write("text.mp4", Data("This is not a movie.\n".utf8)))
    #expect(text?.code == .unsupported)
    #expect(text?.message == "“text.mp4” is in no format that can be sent here")
    #expect(text?.remedy == .needsUser)
    let playlist = "#EXTM3U\n#EXTINF:1.0,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n"
    #expect(failure(try folder.write("list.mp4", Data(playlist.utf8)))?.code == .unsupported)
    #expect(folder.names == ["empty.mp4", "list.mp4", "text.mp4"])
  }

  @Test("Sound that begins late stays late; 5.1 becomes stereo; the default track is taken")
  func sound() throws {
    _ = try Export.video(Corpus.file("v19"), Self.feed, to: output)
    let silence = try run("ffmpeg", "-v", "error", "-i", output, "-t", "0.6", "-f", "s16le", "-ac", "1", "-")
    #expect(silence.allSatisfy { $0 == 0 || $0 == 255 || $0 == 1 })
    let loud = try run("ffmpeg", "-v", "error", "-ss", "1", "-i", output, "-t", "0.2", "-f", "s16le", "-ac", "1", "-")
    #expect(!loud.allSatisfy { $0 == 0 || $0 == 255 || $0 == 1 })
    _ = try Export.video(Corpus.file("v22"), Self.feed, to: output)
    #expect(try MediaInfo(output).stream("audio")["channels"] as? Int == 2)
  }

  @Test("Progress rises to what is done, and never falls")
  func progress() throws {
    var told: [Double] = []
    _ = try Export.video(try clip("1280x720", seconds: 3), Self.feed, to: output) { told.append($0) }
    #expect(!told.isEmpty)
    #expect(told == told.sorted())
    #expect(told.allSatisfy { (0..<1).contains($0) })
  }
}
