public import ExportProtocol
public import TaskModel

/// Says what an export would do, by the very values that the exporters carry out; nothing is decoded or written.
public enum ExportPlanner {
  /// - Throws: `Failure` where the export would fail for what the file is.
  public static func plan(_ input: MediaInput, job: ExportJob) throws(Failure) -> PlannedExport {
    switch job {
    case .image(let job): return try image(input, job)
    case .video(let job): return try video(input, job)
    case .audio: return try audio(input)
    case .archive, .probe, .poster, .thumbnail:
      throw Failure(.internalError, "There is no medium to plan for", remedy: .giveUp)
    }
  }

  private static func video(_ input: MediaInput, _ job: VideoJob) throws(Failure) -> PlannedExport {
    let source = try VideoSource(input, job)
    let decision = try VideoDecision(source, job)
    let shown = source.picture.displaySize
    guard !decision.copies, let first = decision.attempts.first else {
      return PlannedExport(
        .remux, rung: "remux", width: shown.width, height: shown.height, estimatedBytes: source.bytes,
        reason: decision.reason)
    }
    let sound = source.selection.audio == nil ? 0 : first.audioRate ?? 128_000
    let estimate = source.seconds.map { bytes($0, rate: first.plan.maximumRate + sound) }
    // An encode that is larger than a clean source makes way for it.
    let most = source.stain == nil ? source.bytes : .max
    return PlannedExport(
      .encode, rung: first.rung, width: first.plan.size.width, height: first.plan.size.height,
      estimatedBytes: estimate.map { min($0, most) }, reason: decision.reason)
  }

  /// Under a ceiling of the rate, films measured here came out at 0.8 of it on average.
  private static func bytes(_ seconds: Double, rate: Int64) -> Int64 { Int64(seconds * Double(rate) / 8 * 0.8) }

  private static func audio(_ input: MediaInput) throws(Failure) -> PlannedExport {
    let decision = try AudioDecision(input)
    guard decision.passing != nil else {
      let channels = Int64(min(2, max(1, decision.audio.audio?.channels ?? 2)))
      return PlannedExport(
        .encode, rung: AudioDecision.encodedRung,
        estimatedBytes: decision.seconds.map { Int64($0 * Double(64_000 * channels) / 8) },
        reason: "Encoded as AAC, as \(decision.audio.codec) does not play everywhere.")
    }
    return PlannedExport(
      .remux, rung: AudioDecision.passingRung, estimatedBytes: try input.size(),
      reason: "Copied without cover and tags, as every player plays it as it is.")
  }

  private static func image(_ input: MediaInput, _ job: ImageJob) throws(Failure) -> PlannedExport {
    let plan = try ImageExporter.plan(input, job: job)
    guard plan.action == .encode else {
      return PlannedExport(
        .pass, rung: ImageExporter.passingRung, width: plan.width, height: plan.height,
        estimatedBytes: try input.size(), reason: "Passed on: \(plan.reason.sentence).")
    }
    let format = job.format == .heic ? "HEIC" : "JPEG"
    // A photo of JPEG quality 82 takes about a byte for seven pixels; a HEIC a third less.
    let jpeg = Int64(plan.width * plan.height) * Int64(job.quality) / 570
    return PlannedExport(
      .encode, rung: "\(job.longEdge)", width: plan.width, height: plan.height,
      estimatedBytes: job.format == .heic ? jpeg * 2 / 3 : jpeg,
      reason: "Encoded as a \(format) of \(plan.width) × \(plan.height) pixels: \(plan.reason.sentence).")
  }
}
