import FFmpeg
import TaskModel

/// Takes a picture out of a film: upright, square pixels, SDR, as its export shows it.
struct PosterFrames {
  private let input: MediaInput
  private let demuxer: Demuxer
  private let stream: StreamInfo
  private let filters: String

  private let patience: Int

  /// - Parameters:
  ///   - longEdge: pixels; a smaller film stays as it is.
  ///   - patience: frames that are decoded after a key frame in search of a moment; then the last of them has to do.
  /// - Throws: `Failure`.
  init(_ input: MediaInput, longEdge: Int, patience: Int = 150) throws(Failure) {
    self.input = input
    self.patience = patience
    demuxer = try input.demuxer()
    guard let stream = MediaSelection(demuxer.streams).video, let video = stream.video else {
      throw MediaFailure.noVideo(input.name)
    }
    guard video.width <= MediaLimits.videoPixels / video.height else {
      throw MediaFailure.tooManyPixels(input.name, PixelSize(video.width, video.height))
    }
    self.stream = stream
    let size = video.displaySize.fitted(longSide: longEdge, shortSide: longEdge)
    filters =
      VideoPlan.filters(video, size: size) + ",scale=in_color_matrix=bt709:in_range=tv:out_range=pc,format=rgb24"
  }

  /// The first of some moments that shows something, or the most telling of them.
  /// - Throws: `Failure` where no frame can be decoded.
  func best() throws(Failure) -> RGBPicture {
    demuxer.select(streams: [stream.index])
    var best: (picture: RGBPicture, variation: Double)?
    do throws(FFmpegError) {
      let decoder = try Decoder(
        of: demuxer, stream: stream.index,
        threads: MediaLimits.threads(for: stream.video.map { PixelSize($0.width, $0.height) } ?? PixelSize(0, 0)),
        maximumPixels: MediaLimits.videoPixels)
      for (attempt, time) in PosterChoice.times(duration: demuxer.duration).enumerated() {
        // The first moment is near the start, where the demuxer is anyway.
        if attempt > 0, !seek(to: time, decoder) { break }
        guard let picture = try picture(at: time, decoder) else { continue }
        let variation = PosterChoice.variation(picture)
        if variation > best?.variation ?? -1 { best = (picture, variation) }
        if PosterChoice.isTelling(variation) { break }
      }
    } catch {
      throw MediaFailure.of(error, input.name)
    }
    if let number = demuxer.readError { throw MediaFailure.unreadable(input.name, number) }
    guard let best else { throw MediaFailure.damaged(input.name) }
    return best.picture
  }

  private func seek(to time: Double, _ decoder: Decoder) -> Bool {
    do throws(FFmpegError) { try demuxer.seek(to: time, stream: stream.index) } catch { return false }
    decoder.flush()
    return true
  }

  /// The first frame at a time or after it, or else the last one before.
  private func picture(at time: Double, _ decoder: Decoder) throws(FFmpegError) -> RGBPicture? {
    let start = Rational.microseconds.seconds(demuxer.startTime)
    let packet = try Packet()
    let frame = try Frame()
    let last = try Frame()
    var frames = 0
    var isAtEnd = false
    search: while !isAtEnd {
      isAtEnd = !demuxer.readAhead(into: packet)
      if !isAtEnd, packet.streamIndex != stream.index { continue }
      // A packet that makes no sense is one frame less to choose from.
      do throws(FFmpegError) { try decoder.send(isAtEnd ? nil : packet) } catch { continue }
      while receive(frame, from: decoder) {
        frames += 1
        last.take(frame)
        let isThere = last.bestTimestamp.map { decoder.timeBase.seconds($0) - start >= time - 0.001 } ?? false
        if isThere || frames >= patience { break search }
      }
    }
    return frames > 0 ? try rgb(last, decoder) : nil
  }

  private func receive(_ frame: Frame, from decoder: Decoder) -> Bool {
    (try? decoder.receive(into: frame)) ?? false
  }

  private func rgb(_ frame: Frame, _ decoder: Decoder) throws(FFmpegError) -> RGBPicture? {
    let graph = try FilterGraph(for: frame, timeBase: decoder.timeBase, filters: filters)
    try graph.push(frame)
    try graph.push(nil)
    let shown = try Frame()
    guard try graph.pull(into: shown), let pixels = shown.rgb else { return nil }
    return RGBPicture(width: shown.width, height: shown.height, bytes: pixels)
  }
}
