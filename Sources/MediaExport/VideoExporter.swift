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
    let export = try VideoExport(input: input, job: job, output: output, progress: ProgressMeter(progress))
    var result = try export.run()
    guard result.size <= job.hardLimit ?? .max else {
      throw MediaFailure.tooLarge(input.name, limit: job.hardLimit ?? 0)
    }
    result.size = try output.complete()
    return result
  }
}

/// One video on its way.
private struct VideoExport {
  let input: MediaInput
  let job: VideoJob
  let output: OutputFile
  let progress: ProgressMeter

  private let sourceSize: Int64
  /// Bits per second of the whole file.
  private let sourceRate: Int64?
  private let selection: MediaSelection
  private let video: StreamInfo
  private let picture: StreamInfo.Video
  private let isCopyable: Bool

  init(input: MediaInput, job: VideoJob, output: OutputFile, progress: ProgressMeter) throws(Failure) {
    self.input = input
    self.job = job
    self.output = output
    self.progress = progress
    sourceSize = try input.size()
    let demuxer = try input.demuxer()
    sourceRate = demuxer.bitRate
    selection = MediaSelection(demuxer.streams)
    guard let video = selection.video, let picture = video.video else { throw MediaFailure.noVideo(input.name) }
    guard picture.width <= MediaLimits.videoPixels / picture.height else {
      throw MediaFailure.tooManyPixels(input.name, PixelSize(picture.width, picture.height))
    }
    self.video = video
    self.picture = picture
    isCopyable = try Self.isCopyable(input, selection, video, demuxer)
  }

  func run() throws(Failure) -> ExportResult {
    if isCopyable, job.allowsRemux(of: picture.displaySize), let copy = try remux(),
      copy.size <= job.hardLimit ?? .max
    {
      return copy
    }
    let encoded = try encode()
    guard isCopyable, !encoded.isFlawed, encoded.result.size >= sourceSize else { return encoded.result }
    // Encoding gained nothing: the source is the better film and the smaller one.
    if let copy = try remux() { return copy }
    return try encode().result
  }

  /// - Returns: nil where the packets can't be copied after all.
  private func remux() throws(Failure) -> ExportResult? {
    let remuxer = Remuxer(input: input, streams: selection.streams, progress: progress)
    guard let seconds = try remuxer.run(container: .mp4, path: output.path) else { return nil }
    return result(picture.displaySize, seconds, bytes: try output.size(), rung: "remux")
  }

  private func encode() throws(Failure) -> (result: ExportResult, isFlawed: Bool) {
    let plan = VideoPlan(video, picture, sourceRate: sourceRate, job: job)
    let transcoder = Transcoder(
      demuxer: try input.demuxer(), selection: selection, name: input.name, progress: progress)
    let outcome = try transcoder.run(video: (plan, job), container: .mp4, path: output.path)
    let rung = "\(job.longSide)x\(job.shortSide)"
    return (result(plan.size, outcome.seconds, bytes: try output.size(), rung: rung), outcome.isFlawed)
  }

  private func result(_ size: PixelSize, _ seconds: Double, bytes: Int64, rung: String) -> ExportResult {
    ExportResult(
      mime: "video/mp4", size: bytes, width: size.width, height: size.height,
      durationMs: Int64((seconds * 1000).rounded()), rung: rung)
  }

  /// Looks at every packet of a source that is clean by its header.
  private static func isCopyable(
    _ input: MediaInput, _ selection: MediaSelection, _ video: StreamInfo, _ demuxer: Demuxer
  ) throws(Failure) -> Bool {
    // Other containers may change their mind about a stream on the way.
    let isStable = demuxer.format.hasPrefix("mov") || demuxer.format.hasPrefix("matroska")
    guard isStable, selection.isClean else { return false }
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
