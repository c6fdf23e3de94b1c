import ExportProtocol
import Foundation
import TaskModel
import Testing

@Suite("Films that are not what they seem", .serialized)
struct OddFilmTests {
  private let folder: Folder
  private let output: String
  private static let copying = VideoJob(.box(VideoBox(longSide: 960, shortSide: 540, remux: .ifClean)))
  private static let bars = "testsrc2=s=320x240:r=30:d=2"

  init() throws {
    folder = try Folder()
    output = folder.file("out.part")
  }

  /// A clean clip of two seconds.
  private func clip(_ name: String = "clip.mp4", _ more: String...) throws -> String {
    try run(
      "ffmpeg",
      ["-v", "error", "-y", "-f", "lavfi", "-i", Self.bars, "-f", "lavfi", "-i", "sine=d=2", "-c:v", "libx264"]
        + ["-preset", "veryfast", "-pix_fmt", "yuv420p", "-g", "15", "-c:a", "aac"] + more + [folder.file(name)])
    return folder.file(name)
  }

  private func copy(_ source: String, to name: String, _ more: String...) throws -> String {
    try run("ffmpeg", ["-v", "error", "-y", "-i", source, "-c", "copy"] + more + [folder.file(name)])
    return folder.file(name)
  }

  private func firstPart(of path: String, _ share: Double) throws -> String {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    return try folder.write("cut", data.prefix(Int(Double(data.count) * share)))
  }

  private func failure(_ path: String, _ job: VideoJob = copying) -> Failure? {
    #expect(throws: Failure.self) { try Export.video(path, job, to: output) }
  }

  @Test("A header that promises a hundred times the length does not make a whole film a damaged one")
  func lyingHeader() throws {
    var data = try Data(contentsOf: URL(fileURLWithPath: try clip()))
    let header = try #require(data.range(of: Data("mvhd".utf8)))
    data.replaceSubrange(header.upperBound + 16..<header.upperBound + 20, with: [0, 3, 0x0D, 0x40])
    let result = try Export.video(try folder.write("lie.mp4", data), Self.copying, to: output)
    #expect(result.rung == "remux")
    #expect(abs(try MediaInfo(output).duration - 2) < 0.1)
  }

  @Test("A Matroska film that begins at ten seconds is whole, and one with reordered pictures is copied")
  func matroska() throws {
    let late = try copy(try clip("clip.mp4", "-bf", "3"), to: "late.mkv", "-output_ts_offset", "10")
    let result = try Export.video(late, Self.copying, to: output)
    #expect(result.rung == "remux")
    let frames = try run("ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", output)
    #expect(String(decoding: frames, as: UTF8.self).contains("nb_read_frames=60"))
    #expect(abs(try MediaInfo(output).duration - 2) < 0.1)
  }

  @Test("A film whose size changes on its way is encoded, so that it has one size")
  func changingSize() throws {
    var stream = Data()
    for size in ["320x240", "160x120"] {
      try ffmpeg(
        "-f", "lavfi", "-i", "testsrc2=s=\(size):r=30:d=1", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-bf", "0",
        "-x264-params", "repeat-headers=1", folder.file("part.h264"))
      stream += try Data(contentsOf: URL(fileURLWithPath: folder.file("part.h264")))
    }
    let changing = try copy(try folder.write("both.h264", stream), to: "changing.mkv")
    #expect(try Export.video(changing, Self.copying, to: output).rung == "960x540")
    #expect(try Picture(output, at: 1.5).size == [320, 240])
  }

  @Test("What was cut off is damaged, also where no header tells the length")
  func cutOff() throws {
    let fragments = try copy(try clip(), to: "parts.mp4", "-movflags", "frag_keyframe+empty_moov+default_base_moof")
    #expect(try Export.video(fragments, Self.copying, to: output).rung == "remux")
    #expect(failure(try firstPart(of: fragments, 0.6))?.code == .damaged)
    let avi = folder.file("whole.avi")
    try ffmpeg("-f", "lavfi", "-i", Self.bars, "-c:v", "mpeg4", avi)
    _ = try Export.video(avi, Self.copying, to: output)
    #expect(failure(try firstPart(of: avi, 0.5))?.code == .damaged)
  }

  @Test("What a camera writes between the pictures stays at home")
  func remarks() throws {
    let marked = try copy(
      try clip(), to: "marked.mp4", "-bsf:v",
      "h264_metadata=sei_user_data=086f3693-b7b3-4f2c-9653-21492feee5b8+GPS59.9000N30.3000E")
    func holdsPlace(_ path: String) throws -> Bool {
      try Data(contentsOf: URL(fileURLWithPath: path)).range(of: Data("GPS59.9".utf8)) != nil
    }
    try #require(try holdsPlace(marked))
    #expect(try Export.video(marked, Self.copying, to: output).rung == "remux")
    #expect(try !holdsPlace(output))
    let pictures = try [marked, output].map { try run("ffmpeg", "-v", "error", "-i", $0, "-f", "md5", "-an", "-") }
    #expect(pictures[0] == pictures[1])
  }

  @Test("A protected film is refused for what it is")
  func encrypted() throws {
    let locked = try copy(
      try clip(), to: "locked.mp4", "-encryption_scheme", "cenc-aes-ctr", "-encryption_key",
      "76a6c65c5ea762046bd749a2e632ccbb", "-encryption_kid", "a7e61c373e219033c21091fa607bf3b8")
    let failure = failure(locked)
    #expect(failure?.code == .unsupported)
    #expect(failure?.message == "“locked.mp4” is protected against copying")
    #expect(!FileManager.default.fileExists(atPath: output))
  }

  @Test(
    "A wide gamut that is not HDR comes out with the colours it had",
    arguments: [("bt2020", "bt2020nc"), ("smpte432", "bt709")])
  func wideGamut(primaries: String, matrix: String) throws {
    let source = folder.file("wide.mp4")
    // Green of BT.709, said in the wider space.
    try ffmpeg(
      "-f", "lavfi", "-i", "color=0x3CB43C:s=320x240:r=30:d=1", "-vf",
      "format=gbrp,zscale=tin=709:pin=709:min=gbr:rin=pc:t=709:p=\(primaries):m=\(matrix == "bt709" ? "709" : "2020_ncl")"
        + ":r=tv,format=yuv420p", "-c:v", "libx264", "-color_primaries", primaries, "-color_trc", "bt709",
      "-colorspace",
      matrix, source)
    let result = try Export.video(source, Self.copying, to: output)
    #expect(result.rung == "960x540")
    let centre = try Picture(output, at: 0.5).centre
    #expect(zip(centre, [0x3C, 0xB4, 0x3C]).allSatisfy { abs($0 - $1) <= 6 }, "\(centre)")
    #expect(try MediaInfo(output).stream("video")["color_primaries"] as? String == "bt709")
  }

  @Test(
    "B039: a film that can be seen through lies on white",
    arguments: [["qtrle", "argb"], ["png", "rgba"], ["prores_ks", "yuva444p10le"]])
  func alpha(codec: [String]) throws {
    let source = folder.file("overlay.mov")
    try ffmpeg(
      "-f", "lavfi", "-i", "color=black:s=320x240:r=10:d=1", "-vf",
      "format=rgba,geq=r=0:g=0:b=0:a='if(lt(X,100),255,0)'", "-c:v", codec[0], "-pix_fmt", codec[1], source)
    _ = try Export.video(source, Self.copying, to: output)
    let picture = try Picture(output, at: 0.5)
    #expect(picture[300, 120].allSatisfy { $0 >= 250 }, "\(picture[300, 120])")
    #expect(picture[20, 120].allSatisfy { $0 <= 5 }, "\(picture[20, 120])")
  }

  @Test("B039: a moving PNG that can be seen through lies on white")
  func movingPNG() throws {
    let source = folder.file("moving.png")
    try ffmpeg(
      "-f", "lavfi", "-i", "color=black:s=320x240:r=10:d=1", "-vf",
      "format=rgba,geq=r=0:g=0:b=0:a='if(lt(X,100),255,0)'", "-f", "apng", source)
    _ = try Export.video(source, Self.copying, to: output)
    let picture = try Picture(output, at: 0.5)
    #expect(picture[300, 120].allSatisfy { $0 >= 250 }, "\(picture[300, 120])")
    #expect(picture[20, 120].allSatisfy { $0 <= 5 }, "\(picture[20, 120])")
  }
}
