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
    let demuxer = try input.demuxer()
    var selection = MediaSelection(demuxer.streams)
    selection.video = nil
    guard let audio = selection.audio else {
      throw MediaFailure.unsupported(input.name, "holds no sound")
    }
    let meter = ProgressMeter(progress)
    func done(_ seconds: Double, _ bytes: Int64, _ mime: String, _ rung: String) -> ExportResult {
      ExportResult(mime: mime, size: bytes, durationMs: Int64((seconds * 1000).rounded()), rung: rung)
    }

    if let container = passingContainer(audio, format: demuxer.format) {
      let scan = try StreamScan(input, streams: [audio])
      guard let end = scan.end, end > 0 else { throw MediaFailure.damaged(input.name, "holds no sound") }
      // The header of an MP3 or ADTS file is only an estimate; MP4 knows.
      if audio.codec == "aac", demuxer.format.hasPrefix("mov") {
        try Completeness.check(input.name, video: (nil, nil), whole: (demuxer.duration, end))
      }
      let remuxer = Remuxer(input: input, streams: [audio], progress: meter)
      if scan.isCopyable, let seconds = try remuxer.run(container: container, path: path) {
        return done(seconds, try output.complete(), container == .mp3 ? "audio/mpeg" : "audio/mp4", "remux")
      }
    }
    let transcoder = Transcoder(demuxer: demuxer, selection: selection, name: input.name, progress: meter)
    let outcome = try transcoder.run(video: nil, container: .m4a, path: path)
    return done(outcome.seconds, try output.complete(), "audio/mp4", "aac")
  }

  private static func passingContainer(_ audio: StreamInfo, format: String) -> Muxer.Container? {
    switch audio.codec {
    case "aac" where audio.isCleanAAC && (format.hasPrefix("mov") || format == "aac"): .m4a
    case "mp3" where format == "mp3" && (audio.audio?.channels ?? 0) <= 2: .mp3
    default: nil
    }
  }
}
