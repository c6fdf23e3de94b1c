import FFmpeg
import Foundation
import TaskTestSupport
import Testing

@Suite("The encoder's own thread", .timeLimit(.minutes(10)))
struct EncoderThreadTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  /// Frames of a film or of sound, as its filters give them.
  private func frames(_ arguments: [String], filters: String) throws -> (frames: [Frame], timeBase: Rational) {
    let source = folder.file("source.mkv")
    try run("ffmpeg", ["-v", "error", "-y"] + arguments + [source])
    let descriptor = open(source, O_RDONLY | O_CLOEXEC)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let demuxer = try Demuxer(
      descriptor: descriptor, limits: DemuxerLimits(formats: ["matroska", "webm"], maximumPixels: 1 << 20))
    let decoder = try Decoder(of: demuxer, stream: 0, threads: 1, maximumPixels: 1 << 20)
    let packet = try Packet()
    let decoded = try Frame()
    var graph: FilterGraph?
    var found: [Frame] = []
    var isAtEnd = false
    while !isAtEnd {
      isAtEnd = try !demuxer.read(into: packet)
      try decoder.send(isAtEnd ? nil : packet)
      while try decoder.receive(into: decoded) {
        decoded.timestamp = decoded.bestTimestamp
        let filter = try graph ?? FilterGraph(for: decoded, timeBase: decoder.timeBase, filters: filters)
        graph = filter
        try filter.push(decoded)
        while case let frame = try Frame(), try filter.pull(into: frame) { found.append(frame) }
      }
    }
    return (found, try #require(graph).timeBase)
  }

  private func film(_ count: Int, size: String = "320x240") throws -> (frames: [Frame], timeBase: Rational) {
    try frames(
      ["-f", "lavfi", "-i", "testsrc2=s=\(size):r=30:d=\(Double(count) / 30)", "-c:v", "mpeg4"],
      filters: "format=yuv420p")
  }

  private func videoEncoder(_ timeBase: Rational, preset: String = "veryfast") throws -> Encoder {
    try Encoder(
      VideoEncoderSettings(
        width: 320, height: 240, timeBase: timeBase, frameRate: Rational(30, 1), crf: 30, preset: preset,
        maximumRate: 500_000, bufferSize: 500_000, threads: 2))
  }

  /// Sound in runs of twice as many samples as AAC takes at once.
  private func longRuns() throws -> [Frame] {
    try frames(
      ["-f", "lavfi", "-i", "sine=r=44100:d=2", "-c:a", "pcm_s16le"], filters: "aformat=fltp,asetnsamples=2048"
    ).frames
  }

  private func audioEncoder() throws -> Encoder {
    try Encoder(AudioEncoderSettings(sampleRate: 44_100, channels: 1, bitRate: 64_000))
  }

  @Test("Every picture comes out once, in the order of decoding")
  func order() throws {
    let (frames, timeBase) = try film(90)
    try #require(frames.count == 90)
    let thread = EncoderThread(try videoEncoder(timeBase))
    let packet = try Packet()
    var decoding: [Int64] = []
    var shown: Set<Int64> = []
    func collect() throws {
      while try thread.receive(into: packet) {
        decoding.append(try #require(packet.decoding))
        shown.insert(try #require(packet.presentation))
      }
    }
    for (index, frame) in frames.enumerated() {
      frame.timestamp = Int64(index)
      try thread.send(frame)
      // Handed over, and not copied.
      #expect(frame.width == 0)
      try collect()
    }
    try thread.send(nil)
    try collect()
    #expect(decoding == decoding.sorted() && Set(decoding).count == 90)
    #expect(shown == Set(0..<90))
    #expect(try !thread.receive(into: packet))
  }

  @Test("A picture that the encoder refuses is an error of every call that follows, and no hang")
  func refusal() throws {
    let thread = EncoderThread(try audioEncoder())
    let packet = try Packet()
    var runs = try longRuns()
    try #require(runs.count > 20)
    var errors = 0
    // The first one may have been taken before it is known that it was refused; no one after that is.
    for run in runs.prefix(20) { do { try thread.send(run) } catch { errors += 1 } }
    #expect(errors >= 10)
    #expect(throws: FFmpegError.self) { try thread.send(nil) }
    #expect(throws: FFmpegError.self) { while try thread.receive(into: packet) {} }
    runs = []
  }

  @Test("A refusal at the very end is heard of where the last packets are waited for")
  func lateRefusal() throws {
    let thread = EncoderThread(try audioEncoder())
    let run = try #require(try longRuns().first)
    try thread.send(run)
    // The end may follow before the thread has looked at the run.
    let isKnown = (try? thread.send(nil)) == nil
    let packet = try Packet()
    let error = #expect(throws: FFmpegError.self) { while try thread.receive(into: packet) {} }
    #expect(error?.operation == "encoding", "\(isKnown)")
  }

  @Test("Who goes in the middle, or right after the end, waits for one picture at most", arguments: [0, 1, 5, 60, 61])
  func abandoned(after count: Int) throws {
    let (frames, timeBase) = try film(60)
    let thread = EncoderThread(try videoEncoder(timeBase))
    for (index, frame) in frames.prefix(count).enumerated() {
      frame.timestamp = Int64(index)
      try thread.send(frame)
    }
    if count > 60 { try thread.send(nil) }
  }
}
