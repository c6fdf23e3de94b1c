import ExportProtocol
import Foundation
import TaskModel
import Testing

@testable import MediaExport

@Suite("Films that have to fit", .serialized)
struct LadderExportTests {
  private let folder: Folder
  private let output: String

  init() throws {
    folder = try Folder()
    output = folder.file("out.part")
  }

  private func clip(_ size: String = "640x360", seconds: Int = 2, _ more: String...) throws -> String {
    let path = folder.file("clip.mp4")
    try run(
      "ffmpeg",
      ["-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=s=\(size):r=30:d=\(seconds),noise=alls=20:allf=t"]
        + ["-f", "lavfi", "-i", "sine=d=\(seconds)", "-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p"]
        + ["-crf", "18", "-c:a", "aac"] + more + [path])
    return path
  }

  private func ladder(_ limit: Int64, hard: Int64 = 50_000_000) -> VideoJob {
    VideoJob(.ladder(limit: limit, hardLimit: hard))
  }

  private func bytes(_ path: String) throws -> Int64 {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64)
  }

  @Test("One encode fits, at any limit", arguments: [400_000, 200_000, 120_000, 60_000] as [Int64])
  func fits(limit: Int64) throws {
    let result = try Export.video(try clip("1280x720"), ladder(limit), to: output)
    #expect(result.size <= limit)
    #expect(result.encodes == 1)
    #expect(result.size == (try bytes(output)))
    let video = try MediaInfo(output).stream("video")
    #expect([result.width, result.height] == [video["width"] as? Int, video["height"] as? Int])
  }

  @Test("A clean film within box and limit is copied; over either it is encoded")
  func clean() throws {
    let source = try clip()
    let copy = try Export.video(source, ladder(try bytes(source)), to: output)
    #expect(copy.rung == "remux" && copy.encodes == 0)
    let tight = try Export.video(source, ladder(try bytes(source) / 2), to: output)
    #expect(tight.rung == "1280x720" && tight.encodes == 1)
    let large = try Export.video(try clip("1440x1080"), ladder(20_000_000), to: output)
    #expect(large.rung == "1280x720" && large.height == 720)
  }

  @Test("An encode that overshoots is given up: once more with less, then the next rung")
  func overshoot() throws {
    let source = try clip()
    let job = ladder(400_000)
    try Export.open(source) { input in
      let film = try VideoSource(input, job)
      var decision = try VideoDecision(film, job)
      #expect(decision.attempts.map(\.rung).prefix(3) == ["1280x720", "1280x720", "568x360"])
      // As if the encoder had made more than it promised, twice.
      decision.attempts[0].byteLimit = 20_000
      decision.attempts[1].byteLimit = 20_000
      let result = try VideoExporter.export(input, film, decision, crf: 23, to: output) { _ in }
      #expect(result.rung == "568x360" && result.width == 568)
      #expect(result.encodes == 3)
      #expect(try MediaInfo(output).stream("video")["width"] as? Int == 568)
      #expect(abs(try MediaInfo(output).duration - 2) < 0.1)
    }
  }

  @Test("Where every rung overshoots the film is too large, in words, and nothing is left")
  func tooLarge() throws {
    // Turned, so that it can't be copied instead.
    let source = try clip("640x360", seconds: 2, "-metadata:s:v", "rotate=90")
    let job = ladder(400_000)
    try Export.open(source) { input in
      let film = try VideoSource(input, job)
      var decision = try VideoDecision(film, job)
      for index in decision.attempts.indices { decision.attempts[index].byteLimit = 5_000 }
      decision.hardLimit = 5_000
      let failure = #expect(throws: Failure.self) {
        try VideoExporter.export(input, film, decision, crf: 23, to: output) { _ in }
      }
      #expect(failure?.code == .tooLarge)
      #expect(failure?.message == "“clip.mp4” can't be made smaller than 5 kB")
      #expect(failure?.isPermanent == true)
    }
    #expect(folder.names == ["clip.mp4"])
  }

  @Test("What no rung can hold is too large without an encode, and a plan says the same")
  func tooLong() throws {
    let source = try clip()
    let failure = #expect(throws: Failure.self) {
      try Export.video(source, ladder(4_000, hard: 8_000), to: output) { _ in Issue.record("it was encoded") }
    }
    #expect(failure?.code == .tooLarge)
    #expect(failure?.message == "“clip.mp4” lasts 2 s, which is too long to fit into 8 kB")
    let planned = #expect(throws: Failure.self) { try Export.plan(source, .video(ladder(4_000, hard: 8_000))) }
    #expect(planned == failure)
    #expect(folder.names == ["clip.mp4"])
  }

  @Test("The last rung goes out over the limit, up to the hard limit")
  func lastRung() throws {
    let result = try Export.video(try clip(), ladder(8_000, hard: 400_000), to: output)
    #expect(result.rung == "426x240")
    #expect(result.size > 8_000 && result.size <= 400_000)
  }

  @Test(
    "A clean film that no encode makes smaller goes out as it is, over the limit",
    arguments: [(1, false), (2, true)] as [(Int64, Bool)])
  func cleanOverLimit(hardLimitInSizes: Int64, isTried: Bool) throws {
    let source = try clip("160x90", seconds: 2, "-crf", "45", "-b:a", "16k", "-ac", "1", "-map_metadata", "-1")
    let size = try bytes(source)
    let result = try Export.video(source, ladder(size / 2, hard: size * hardLimitInSizes), to: output)
    #expect(result.size <= size && result.size > size / 2)
    #expect((result.encodes > 0) == isTried)
    #expect(try MediaInfo(output).stream("video")["width"] as? Int == 160)
  }

  @Test("A header that does not know the length does not matter: packets are counted")
  func unknownLength() throws {
    let result = try Export.video(try Corpus.file("v46"), ladder(150_000), to: output)
    #expect(result.size <= 150_000)
    #expect(result.encodes <= 1)
  }

  static let jobs: [VideoJob] = [
    VideoJob(.ladder(limit: 300_000, hardLimit: 9_000_000)),
    VideoJob(.ladder(limit: 40_000_000, hardLimit: 90_000_000)),
    VideoJob(.box(VideoBox(longSide: 960, shortSide: 540, remux: .ifClean))),
    VideoJob(.box(VideoBox(longSide: 960, shortSide: 540, remux: .never))),
  ]

  @Test("What a plan says is what the export does: videos", arguments: ["v01", "v02", "v08", "v09", "v18"], jobs)
  func agreement(id: String, job: VideoJob) throws {
    let source = try Corpus.file(id)
    let plan = try Export.plan(source, .video(job))
    let result = try Export.video(source, job, to: output)
    #expect(plan.action == (result.encodes == 0 ? .remux : .encode))
    #expect(plan.rung == result.rung)
    #expect([plan.width, plan.height] == [result.width, result.height])
    #expect(plan.reason.hasSuffix("."))
  }

  @Test("What a plan says is what the export does: sound", arguments: ["a01", "a02", "a03", "a04", "a06"])
  func audioAgreement(id: String) throws {
    let source = try Corpus.file(id)
    let plan = try Export.plan(source, .audio)
    let result = try Export.audio(source, to: output)
    #expect(plan.rung == result.rung)
    #expect((plan.action == .remux) == (result.rung == "remux"))
    let estimate = try #require(plan.estimatedBytes)
    #expect((result.size / 2...result.size * 3).contains(estimate))
  }

  @Test("What a plan says is what the export does: pictures", arguments: ["i01", "i02", "i06", "i10", "i11", "i24"])
  func imageAgreement(id: String) throws {
    let source = try Corpus.file(id)
    for job in [ImageJob(longEdge: 333), ImageJob(longEdge: 2048), ImageJob(longEdge: 64, cropSquare: true)] {
      let plan = try Export.plan(source, .image(job))
      let result = try Export.image(source, job, to: output)
      #expect([plan.width, plan.height] == [result.width, result.height])
      #expect(plan.rung == result.rung)
    }
  }

  @Test("A plan refuses what the export refuses, in the same words", arguments: ["b06", "v25"])
  func sameRefusal(id: String) throws {
    let source = try Corpus.file(id)
    let job = VideoJob(.box(VideoBox(longSide: 960, shortSide: 540, remux: .ifClean)))
    let planned = #expect(throws: Failure.self) { try Export.plan(source, .video(job)) }
    let exported = #expect(throws: Failure.self) { try Export.video(source, job, to: output) }
    #expect(planned == exported)
  }

  @Test(
    "Figures are told as people say them",
    arguments: [(999, "999 bytes"), (65_536, "65 kB"), (26_214_400, "26.2 MB"), (104_857_600, "104.8 MB")]
      as [(Int64, String)])
  func words(bytes: Int64, text: String) {
    #expect(Words.size(bytes) == text)
  }
}
