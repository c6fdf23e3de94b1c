public import ExportProtocol
import FFmpeg
public import TaskModel

/// Makes an MP4 that every player shows: a clean source is passed on without its metadata, anything else is encoded.
public enum VideoExporter {
  /// - Parameters:
  ///   - path: of the unfinished file to write.
  ///   - progress: told the done fraction.
  /// - Throws: `Failure`; nothing is left of the output then.
  public static func export(
    _ input: MediaInput, job: VideoJob, to path: String, progress: @escaping (Double) -> Void
  ) throws(Failure) -> ExportResult {
    let source = try VideoSource(input, job)
    return try export(
      input, source, try VideoDecision(source, job), crf: job.crf, to: path, progress: progress)
  }

  static func export(
    _ input: MediaInput, _ source: VideoSource, _ decision: VideoDecision, crf: Int, to path: String,
    progress: @escaping (Double) -> Void
  ) throws(Failure) -> ExportResult {
    let output = try OutputFile.create(path)
    var export = VideoExport(
      input: input, source: source, decision: decision, crf: crf, output: output, progress: ProgressMeter(progress))
    var result = try export.run()
    result.size = try output.complete()
    return result
  }
}

extension VideoSource {
  init(_ input: MediaInput, _ job: VideoJob) throws(Failure) {
    let measures = if case .ladder = job.goal { true } else { false }
    try self.init(input, measures: measures)
  }
}

/// A decision on its way. It decides nothing itself but what only the finished bytes can tell.
private struct VideoExport {
  let input: MediaInput
  let source: VideoSource
  let decision: VideoDecision
  let crf: Int
  let output: OutputFile
  let progress: ProgressMeter
  private var encodes = 0
  /// The first encode's, which takes it.
  private var fresh: Demuxer?

  init(
    input: MediaInput, source: VideoSource, decision: VideoDecision, crf: Int, output: OutputFile,
    progress: ProgressMeter
  ) {
    self.input = input
    self.source = source
    self.decision = decision
    self.crf = crf
    self.output = output
    fresh = source.demuxer
    self.progress = progress
  }

  mutating func run() throws(Failure) -> ExportResult {
    if decision.copies, let copy = try remux(limit: decision.copyLimit) { return copy }
    for attempt in decision.attempts {
      guard let encoded = try encode(attempt) else { continue }
      guard source.stain == nil, !encoded.isFlawed, encoded.result.size >= source.bytes else { return encoded.result }
      // Encoding gained nothing: the source is the better film and the smaller one.
      if let copy = try remux(limit: decision.hardLimit) { return copy }
      // The copy has taken the file's place.
      if let again = try encode(attempt) { return again.result }
    }
    if source.stain == nil, source.bytes <= decision.hardLimit, let copy = try remux(limit: decision.hardLimit) {
      return copy
    }
    throw MediaFailure.tooLarge(source.name, limit: decision.hardLimit)
  }

  /// - Returns: nil where the packets can't be copied after all, or are too many.
  private func remux(limit: Int64) throws(Failure) -> ExportResult? {
    let remuxer = Remuxer(input: input, streams: source.selection.streams, progress: progress)
    guard let seconds = try remuxer.run(container: .mp4, path: output.path) else { return nil }
    let size = try output.size()
    return size <= limit ? result(source.picture.displaySize, seconds, bytes: size, rung: "remux") : nil
  }

  /// - Returns: nil where it became too large.
  private mutating func encode(
    _ attempt: VideoDecision.Attempt
  ) throws(Failure) -> (result: ExportResult, isFlawed: Bool)? {
    encodes += 1
    let demuxer = if let fresh { fresh } else { try input.demuxer() }
    fresh = nil
    let transcoder = Transcoder(
      demuxer: demuxer, selection: source.selection, name: source.name, progress: progress)
    let settings = Transcoder.Settings(
      plan: attempt.plan, crf: crf, audioRate: attempt.audioRate, byteLimit: attempt.byteLimit)
    guard let outcome = try transcoder.run(settings, container: .mp4, path: output.path) else { return nil }
    // The index comes last, and counts too.
    let size = try output.size()
    guard size <= attempt.byteLimit ?? .max else { return nil }
    return (result(attempt.plan.size, outcome.seconds, bytes: size, rung: attempt.rung), outcome.isFlawed)
  }

  private func result(_ size: PixelSize, _ seconds: Double, bytes: Int64, rung: String) -> ExportResult {
    ExportResult(
      mime: "video/mp4", size: bytes, width: size.width, height: size.height,
      durationMs: Int64((seconds * 1000).rounded()), rung: rung, encodes: encodes)
  }
}
