import ExportProtocol
import Foundation
import TaskModel
import TaskTestSupport
import Testing

@testable import MediaExport

/// Those of the process, such as memory and processor time, are tried in `WorkerTests` and `SandboxTests`.
@Suite("What a file may ask for", .serialized)
struct LimitTests {
  private let folder: Folder
  private let output: String

  init() throws {
    folder = try Folder()
    output = folder.file("out.part")
  }

  private func failure(_ path: String, _ job: VideoJob) -> Failure? {
    #expect(throws: Failure.self) { try Export.video(path, job, to: output) }
  }

  private static let boxed = VideoJob(.box(VideoBox(longSide: 960, shortSide: 540, remux: .never)))

  @Test("A film of more pixels than 8K is refused by its header")
  func pixelsOfFilm() throws {
    let source = folder.file("huge.mp4")
    try ffmpeg(
      "-f", "lavfi", "-i", "color=gray:s=8256x4400:r=1:d=1", "-c:v", "libx264", "-preset", "ultrafast", "-x264-params",
      "rc-lookahead=0:threads=1", source)
    for job in [Self.boxed, VideoJob(.ladder(limit: 100_000, hardLimit: 200_000))] {
      let failure = failure(source, job)
      #expect(failure?.code == .tooManyPixels)
      #expect(failure?.message == "“huge.mp4” is 8256 × 4400 pixels, which is too much")
    }
    #expect(folder.names == ["huge.mp4"])
  }

  @Test(
    "A film of many streams is exported up to a bound, and refused beyond it", arguments: [(31, true), (32, false)])
  func streams(sounds: Int, isTaken: Bool) throws {
    let source = folder.file("many.mp4")
    let maps = (0..<sounds).flatMap { _ in ["-map", "1"] }
    try run(
      "ffmpeg",
      ["-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=10:d=1", "-f", "lavfi", "-i", "sine=d=1"]
        + ["-map", "0"] + maps + ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", source])
    guard !isTaken else {
      _ = try Export.video(source, Self.boxed, to: output)
      return
    }
    let failure = failure(source, Self.boxed)
    #expect(failure?.code == .unsupported || failure?.code == .damaged)
    #expect(folder.names == ["many.mp4"])
  }
}
