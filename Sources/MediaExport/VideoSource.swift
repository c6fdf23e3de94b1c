import FFmpeg
import TaskModel

/// What a film is, before a picture of it is decoded.
struct VideoSource {
  let name: String
  let bytes: Int64
  let selection: MediaSelection
  let video: StreamInfo
  let picture: StreamInfo.Video
  /// Why it can't be passed on as it is, in words that follow "it" or "its"; nil where it can.
  let stain: String?
  /// Nil when unknown.
  let seconds: Double?
  /// Bits per second that are enough for all there is in the picture; nil when unknown.
  let pictureRate: Int64?
  /// Opened, and nothing read of it but what its opening needed: for the first pass, as opening takes as long as some
  /// dozen pictures.
  let demuxer: Demuxer

  /// - Parameter measures: look at every packet for the length, as headers are wrong now and then. A film that is clean by
  ///   its header is looked at in any case.
  /// - Throws: `Failure`.
  init(_ input: MediaInput, measures: Bool) throws(Failure) {
    name = input.name
    bytes = try input.size()
    let demuxer = try input.demuxer()
    guard !input.isCutOff else { throw MediaFailure.cutOff(name) }
    self.demuxer = demuxer
    selection = MediaSelection(demuxer.streams)
    guard let video = selection.video, let picture = video.video else { throw MediaFailure.noVideo(name) }
    guard !picture.isDolbyVisionOnly else {
      throw MediaFailure.unsupported(name, "has colours that only Dolby Vision knows")
    }
    guard picture.width <= MediaLimits.videoPixels / picture.height else {
      throw MediaFailure.tooManyPixels(name, PixelSize(picture.width, picture.height))
    }
    self.video = video
    self.picture = picture
    pictureRate = VideoPlan.enough(for: video, wholeRate: demuxer.bitRate)
    // Other containers may change their mind about a stream on the way.
    let isStable = demuxer.format.hasPrefix("mov") || demuxer.format.hasPrefix("matroska")
    let visible = selection.stain ?? (isStable ? nil : "its container is \(demuxer.format)")
    guard measures || visible == nil else {
      stain = visible
      seconds = demuxer.duration
      return
    }
    let scan = try StreamScan(input, streams: selection.streams)
    seconds = Self.seconds(scan, video, picture, header: demuxer.duration)
    if let visible {
      stain = visible
      return
    }
    guard let end = scan.end, let videoEnd = scan.ends[video.index] else { throw MediaFailure.damaged(name) }
    try Completeness.check(name, video: (video.duration, videoEnd), whole: (demuxer.promisedDuration, end))
    stain = scan.isCopyable ? nil : "its packets can't be copied without showing or losing a part"
  }

  /// Where packets say no time they are counted.
  private static func seconds(
    _ scan: StreamScan, _ video: StreamInfo, _ picture: StreamInfo.Video, header: Double?
  ) -> Double? {
    let counted = Double(scan.packets[video.index] ?? 0) / (picture.frameRate.value ?? MediaLimits.frameRate)
    return [scan.playedEnd, header, counted].compactMap { $0 }.first { $0 > 0 }
  }
}
