import FFmpeg
import TaskModel

/// Decodes the chosen streams once, and encodes them once.
struct Transcoder {
  let demuxer: Demuxer
  let selection: MediaSelection
  let name: String
  let progress: ProgressMeter

  /// Time stamps of the output's pictures: fine enough for every frame rate, and common in MP4.
  private static let videoTimeBase = Rational(1, 90_000)

  struct Outcome {
    /// Of the output.
    var seconds: Double
    /// Whether a part of the source, not too large, could not be decoded as it was meant.
    var isFlawed: Bool
  }

  /// What the picture is encoded with, how far the sound is pressed, and when to give up.
  struct Settings {
    var plan: VideoPlan
    /// x264's quality scale.
    var crf: Int
    /// Bits per second; nil for what is usual.
    var audioRate: Int64?
    /// Bytes.
    var byteLimit: Int64?
  }

  /// - Parameters:
  ///   - settings: of a film; nil for sound alone.
  ///   - path: of the output.
  /// - Returns: nil where it was given up, as the output became larger than the settings allow.
  /// - Throws: `Failure`.
  func run(_ settings: Settings?, container: Muxer.Container, path: String) throws(Failure) -> Outcome? {
    let lanes: Lanes
    let muxer: Muxer
    let isWithinLimit: Bool
    do throws(FFmpegError) {
      muxer = try Muxer(path: path, container: container)
      lanes = try open(settings, muxer)
      try muxer.start()
      isWithinLimit = try pump(lanes, muxer, limit: settings?.byteLimit ?? .max)
    } catch {
      throw MediaFailure.of(error, name)
    }
    if let number = demuxer.readError { throw MediaFailure.unreadable(name, number) }
    guard !demuxer.isEncrypted else { throw MediaFailure.encrypted(name) }
    guard isWithinLimit else { return nil }
    try check(lanes)
    let isFlawed = [lanes.video?.lane, lanes.audio?.lane].contains { $0?.isFlawed == true }
    return Outcome(seconds: muxer.duration, isFlawed: isFlawed)
  }

  private struct Lanes {
    var video: (index: Int, lane: StreamLane)?
    var audio: (index: Int, lane: StreamLane)?
  }

  private func open(_ settings: Settings?, _ muxer: Muxer) throws(FFmpegError) -> Lanes {
    var lanes = Lanes()
    if let settings, let stream = selection.video {
      lanes.video = (stream.index, try lane(of: stream, settings.plan, crf: settings.crf, muxer))
    }
    if let stream = selection.audio, let sound = stream.audio {
      lanes.audio = (stream.index, try lane(of: stream, AudioPlan(sound, bitRate: settings?.audioRate), muxer))
    }
    demuxer.select(streams: [lanes.video?.index, lanes.audio?.index].compactMap { $0 })
    return lanes
  }

  private func lane(
    of stream: StreamInfo, _ plan: VideoPlan, crf: Int, _ muxer: Muxer
  ) throws(FFmpegError) -> StreamLane {
    let source = stream.video.map { PixelSize($0.width, $0.height) } ?? plan.size
    let encoder = try Encoder(
      VideoEncoderSettings(
        width: plan.size.width, height: plan.size.height, timeBase: Self.videoTimeBase, frameRate: plan.frameRate,
        crf: crf, preset: "fast", maximumRate: plan.maximumRate, bufferSize: plan.bufferSize,
        threads: MediaLimits.threads(for: plan.size)))
    let decoder = try Decoder(
      of: demuxer, stream: stream.index, threads: MediaLimits.threads(for: source),
      maximumPixels: MediaLimits.videoPixels)
    return try StreamLane(
      .video(plan), decoder: decoder, encoder: encoder, muxer: muxer, startTime: demuxer.startTime)
  }

  private func lane(of stream: StreamInfo, _ plan: AudioPlan, _ muxer: Muxer) throws(FFmpegError) -> StreamLane {
    try StreamLane(
      .audio(plan),
      decoder: Decoder(of: demuxer, stream: stream.index, threads: 1, maximumPixels: MediaLimits.videoPixels),
      encoder: Encoder(plan.settings), muxer: muxer, startTime: demuxer.startTime)
  }

  /// Feeds every packet to its lane, then empties them and completes the file.
  /// - Returns: false where the work was given up, as the output is larger than allowed.
  private func pump(_ lanes: Lanes, _ muxer: Muxer, limit: Int64) throws(FFmpegError) -> Bool {
    let packet = try Packet()
    let start = Rational.microseconds.seconds(demuxer.startTime)
    let leader = lanes.video?.index ?? lanes.audio?.index
    while demuxer.readAhead(into: packet) {
      if packet.streamIndex == leader, let time = packet.presentation, let duration = demuxer.duration {
        let seconds = demuxer.timeBase(ofStream: packet.streamIndex).seconds(time)
        progress.update((seconds - start) / duration)
      }
      if packet.streamIndex == lanes.video?.index { try lanes.video?.lane.take(packet) }
      if packet.streamIndex == lanes.audio?.index { try lanes.audio?.lane.take(packet) }
      guard muxer.bytesWritten <= limit else { return false }
    }
    try lanes.video?.lane.take(nil)
    try lanes.audio?.lane.take(nil)
    try muxer.finish()
    return true
  }

  private func check(_ lanes: Lanes) throws(Failure) {
    for lane in [lanes.video?.lane, lanes.audio?.lane].compactMap({ $0 }) {
      let tolerated = max(3, Int(Double(lane.packets) * MediaLimits.toleratedErrors))
      guard lane.errors <= tolerated else { throw MediaFailure.damaged(name) }
    }
    if let video = lanes.video, video.lane.end == nil { throw MediaFailure.damaged(name) }
    let ends = [lanes.video?.lane.end, lanes.audio?.lane.end].compactMap { $0 }
    guard let end = ends.max(), end > 0 else { throw MediaFailure.damaged(name, "holds no sound") }
    try Completeness.check(
      name, video: (selection.video?.duration, lanes.video?.lane.end), whole: (demuxer.promisedDuration, end))
  }
}

/// Whether as much was there as the header promised.
enum Completeness {
  /// - Throws: `Failure`.
  static func check(
    _ name: String, video: (promised: Double?, found: Double?), whole: (promised: Double?, found: Double)
  ) throws(Failure) {
    func isShort(_ found: Double, _ promised: Double?) -> Bool {
      // A frame more or less does not count in a clip of a few frames.
      promised.map { found < $0 * MediaLimits.neededShare - 0.1 } ?? false
    }
    guard !isShort(whole.found, whole.promised), !isShort(video.found ?? 0, video.found == nil ? nil : video.promised)
    else { throw MediaFailure.cutOff(name) }
  }
}
