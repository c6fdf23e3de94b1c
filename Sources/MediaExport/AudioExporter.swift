public import ExportProtocol
import FFmpeg
public import TaskModel

/// Sound without anything beside it: AAC and MP3 are passed on, everything else becomes AAC. Covers and tags stay behind.
public enum AudioExporter {
  /// - Throws: `Failure`; nothing is left of the output then.
  public static func export(
    _ input: MediaInput, to path: String, progress: @escaping (Double) -> Void
  ) throws(Failure) -> ExportResult {
    let output = try OutputFile.create(path)
    let decision = try AudioDecision(input)
    let meter = ProgressMeter(progress)
    func done(_ seconds: Double, _ mime: String, _ rung: String) throws(Failure) -> ExportResult {
      ExportResult(
        mime: mime, size: try output.complete(), durationMs: Int64((seconds * 1000).rounded()), rung: rung)
    }
    if let container = decision.passing {
      let remuxer = Remuxer(input: input, streams: [decision.audio], progress: meter)
      if let seconds = try remuxer.run(container: container, path: path) {
        return try done(seconds, container == .mp3 ? "audio/mpeg" : "audio/mp4", AudioDecision.passingRung)
      }
    }
    var selection = MediaSelection([])
    selection.audio = decision.audio
    let transcoder = Transcoder(demuxer: try input.demuxer(), selection: selection, name: input.name, progress: meter)
    guard let outcome = try transcoder.run(nil, container: .m4a, path: path) else {
      throw Failure(.internalError, "“\(input.name)” was given up without a limit", remedy: .retry)
    }
    return try done(outcome.seconds, "audio/mp4", AudioDecision.encodedRung)
  }
}

/// Whether sound is passed on, and into which container; found without decoding.
struct AudioDecision {
  let audio: StreamInfo
  let passing: Muxer.Container?
  /// Nil when unknown.
  let seconds: Double?

  static let passingRung = "remux"
  static let encodedRung = "aac"

  /// - Throws: `Failure`.
  init(_ input: MediaInput) throws(Failure) {
    let demuxer = try input.demuxer()
    guard !input.isCutOff else { throw MediaFailure.cutOff(input.name) }
    guard let audio = MediaSelection(demuxer.streams).audio else {
      throw MediaFailure.unsupported(input.name, "holds no sound")
    }
    self.audio = audio
    guard let container = Self.container(audio, format: demuxer.format) else {
      passing = nil
      seconds = demuxer.duration
      return
    }
    let scan = try StreamScan(input, streams: [audio])
    guard let end = scan.end, end > 0 else { throw MediaFailure.damaged(input.name, "holds no sound") }
    try Completeness.check(input.name, video: (nil, nil), whole: (demuxer.promisedDuration, end))
    passing = scan.isCopyable ? container : nil
    seconds = end
  }

  private static func container(_ audio: StreamInfo, format: String) -> Muxer.Container? {
    switch audio.codec {
    case "aac" where audio.isCleanAAC && (format.hasPrefix("mov") || format == "aac"): .m4a
    case "mp3" where format == "mp3" && (audio.audio?.channels ?? 0) <= 2: .mp3
    default: nil
    }
  }
}
