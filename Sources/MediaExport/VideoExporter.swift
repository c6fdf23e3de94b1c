public import ExportProtocol
import FFmpeg
public import TaskModel

/// Makes an MP4 that every player shows: a clean source is passed on without its metadata, anything else is encoded once.
public enum VideoExporter {
  /// - Parameters:
  ///   - path: of the unfinished file to write.
  ///   - progress: told the done fraction.
  /// - Throws: `Failure`; nothing is left of the output then.
  public static func export(
    _ input: MediaInput, job: VideoJob, to path: String, progress: @escaping (Double) -> Void
  ) throws(Failure) -> ExportResult {
    let output = try OutputFile.create(path)
    let sourceSize = try input.size()
    let demuxer = try input.demuxer()
    let selection = MediaSelection(demuxer.streams)
    guard let video = selection.video, let picture = video.video else { throw MediaFailure.noVideo(input.name) }
    guard picture.width * picture.height <= MediaLimits.videoPixels else {
      throw MediaFailure.tooManyPixels(input.name, PixelSize(picture.width, picture.height))
    }
    let meter = ProgressMeter(progress)
    let copyable = try isCopyable(input, selection, demuxer)

    func remux() throws(Failure) -> ExportResult {
      let remuxer = Remuxer(input: input, streams: selection.streams, progress: meter)
      let seconds = try remuxer.run(container: .mp4, path: path)
      return result(try output.size(), picture.displaySize, seconds, "remux")
    }
    if copyable, job.allowsRemux(of: picture.displaySize) {
      let result = try remux()
      if result.size <= job.hardLimit ?? .max { return try complete(output, result, input, limit: job.hardLimit) }
    }
    let plan = VideoPlan(video, picture, sourceRate: demuxer.bitRate, job: job)
    let transcoder = Transcoder(demuxer: demuxer, selection: selection, name: input.name, progress: meter)
    let outcome = try transcoder.run(video: (plan, job), container: .mp4, path: path)
    // Where encoding gains nothing, the source is the better film and the smaller one; unless encoding mended it.
    if copyable, !outcome.isFlawed, try output.size() >= sourceSize {
      return try complete(output, remux(), input, limit: job.hardLimit)
    }
    let encoded = result(try output.size(), plan.size, outcome.seconds, "\(job.longSide)x\(job.shortSide)")
    return try complete(output, encoded, input, limit: job.hardLimit)
  }

  private static func result(_ bytes: Int64, _ size: PixelSize, _ seconds: Double, _ rung: String) -> ExportResult {
    ExportResult(
      mime: "video/mp4", size: bytes, width: size.width, height: size.height,
      durationMs: Int64((seconds * 1000).rounded()), rung: rung)
  }

  private static func complete(
    _ output: OutputFile, _ result: ExportResult, _ input: MediaInput, limit: Int64?
  ) throws(Failure) -> ExportResult {
    if let limit, result.size > limit { throw MediaFailure.tooLarge(input.name, limit: limit) }
    var result = result
    result.size = try output.complete()
    return result
  }

  /// Looks at every packet of a source that is clean by its header.
  private static func isCopyable(
    _ input: MediaInput, _ selection: MediaSelection, _ demuxer: Demuxer
  ) throws(Failure) -> Bool {
    // Other containers may change their mind about a stream on the way.
    let isStable = demuxer.format.hasPrefix("mov") || demuxer.format.hasPrefix("matroska")
    guard isStable, selection.isClean, let video = selection.video else { return false }
    let scan = try StreamScan(input, streams: selection.streams)
    guard let end = scan.end, let videoEnd = scan.ends[video.index] else { throw MediaFailure.damaged(input.name) }
    try Completeness.check(input.name, video: (video.duration, videoEnd), whole: (demuxer.duration, end))
    return scan.isCopyable
  }
}

extension VideoJob {
  fileprivate func allowsRemux(of size: PixelSize) -> Bool {
    switch remux {
    case .never: false
    case .ifClean: true
    case .ifCleanWithinBox: size.fits(longSide: longSide, shortSide: shortSide)
    }
  }
}
