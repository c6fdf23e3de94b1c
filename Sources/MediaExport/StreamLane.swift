import FFmpeg

/// One stream's way through decoder, filters and encoder into the output. Driven by packets; only the encoder has a thread
/// of its own.
///
/// Filters come in two stages. The first is built anew whenever the shape of the decoded frames changes, and gives them
/// all one shape. Sound then goes through a second one that lives as long as the stream, so that it puts out whole runs
/// of samples, in unbroken time, across such a change.
final class StreamLane {
  enum Kind {
    case video(VideoPlan)
    case audio(AudioPlan)
  }

  private let kind: Kind
  private let decoder: Decoder
  private let encoder: EncoderThread
  private let muxer: Muxer
  private let output: Int
  /// What to add to a time stamp so that the film starts at 0, in the decoder's time base.
  private let shift: Int64
  private var cap: FrameRateCap
  /// How long a picture lasts where the file does not say, in the decoder's time base.
  private let usualDuration: Int64

  private var shaping: FilterGraph?
  private var timing: FilterGraph?
  private let decoded: Frame
  private let shaped: Frame
  private let timed: Frame
  private let encoded: Packet
  private var lastEncoded: Int64?
  private var nextTimestamp: Int64 = 0
  private var lastDuration: Int64 = 1
  private var nextSample: Int64 = 0

  private(set) var packets = 0
  private(set) var errors = 0
  /// Whether something of the source could not be decoded as it was meant.
  private(set) var isFlawed = false
  /// Of what was decoded, in seconds of the output's time; nil while there is nothing.
  private(set) var end: Double?

  /// - Parameter startTime: of the file, in microseconds.
  init(_ kind: Kind, decoder: Decoder, encoder: Encoder, muxer: Muxer, startTime: Int64) throws(FFmpegError) {
    self.kind = kind
    self.decoder = decoder
    self.muxer = muxer
    shift = -Rational.microseconds.rescale(startTime, to: decoder.timeBase)
    switch kind {
    case .video(let plan):
      cap = FrameRateCap(isActive: plan.capsFrameRate)
      let rate = plan.frameRate
      usualDuration = Rational(rate.denominator, rate.numerator).rescale(1, to: decoder.timeBase)
    case .audio:
      cap = FrameRateCap(isActive: false)
      usualDuration = 0
    }
    decoded = try Frame()
    shaped = try Frame()
    timed = try Frame()
    encoded = try Packet()
    output = try muxer.addStream(from: encoder)
    self.encoder = EncoderThread(encoder)
  }

  /// - Parameter packet: of this stream; nil at the end.
  /// - Throws: `FFmpegError` of the filters, the encoder or the output. Errors of the decoder are only counted.
  func take(_ packet: Packet?) throws(FFmpegError) {
    if let packet {
      packets += 1
      if isPause(packet) { return }
    }
    do throws(FFmpegError) { try decoder.send(packet) } catch { countError() }
    while try receive() { try shape() }
    guard packet == nil else { return }
    try finish(shaping)
    try timing?.push(nil)
    try pullTimed()
    try encode(nil)
  }

  /// Frames of AMR that stand for a pause of the speaker (3GPP TS 26.101 and 26.201: types behind the rates) hold a hint
  /// for noise, which FFmpeg can't make; silence fills the gap.
  private func isPause(_ packet: Packet) -> Bool {
    let rates: UInt8
    switch decoder.codec {
    case "amr_nb": rates = 8
    case "amr_wb": rates = 9
    default: return false
    }
    return packet.head(1).first.map { $0 >> 3 & 0xF >= rates } ?? true
  }

  private func receive() throws(FFmpegError) -> Bool {
    while true {
      do throws(FFmpegError) { return try decoder.receive(into: decoded) } catch {
        countError()
        // The decoder goes on with its next picture; an error that does not end would be a loop.
        guard errors <= packets + 16 else { throw error }
      }
    }
  }

  private func countError() {
    errors += 1
    isFlawed = true
  }

  /// One decoded frame into the filters, and whatever comes out on to the encoder.
  private func shape() throws(FFmpegError) {
    let time = decoded.bestTimestamp.map { $0 + shift } ?? nextTimestamp
    let duration = duration(of: decoded)
    if decoded.isFlawed { isFlawed = true }
    nextTimestamp = time + duration
    end = max(end ?? 0, decoder.timeBase.seconds(nextTimestamp))
    if case .video = kind {
      lastDuration = max(1, decoder.timeBase.rescale(duration, to: encoder.timeBase))
      guard cap.keeps(decoder.timeBase.seconds(time)) else { return decoded.clear() }
    }
    decoded.timestamp = time
    if let shaping, !shaping.accepts(decoded) {
      try finish(shaping)
      self.shaping = nil
    }
    let graph = try shapingGraph()
    try graph.push(decoded)
    try pullShaped(graph)
  }

  private func shapingGraph() throws(FFmpegError) -> FilterGraph {
    if let shaping { return shaping }
    let filters =
      switch kind {
      case .video(let plan): plan.filters
      case .audio(let plan): plan.shaping
      }
    let graph = try FilterGraph(for: decoded, timeBase: decoder.timeBase, filters: filters)
    shaping = graph
    return graph
  }

  /// In the decoder's time base.
  private func duration(of frame: Frame) -> Int64 {
    guard frame.sampleCount > 0 else { return frame.duration > 0 ? frame.duration : usualDuration }
    let oneSample = Rational(1, Int32(clamping: max(1, frame.sampleRate)))
    return oneSample.rescale(Int64(frame.sampleCount), to: decoder.timeBase)
  }

  private func finish(_ graph: FilterGraph?) throws(FFmpegError) {
    guard let graph else { return }
    try graph.push(nil)
    try pullShaped(graph)
  }

  private func pullShaped(_ graph: FilterGraph) throws(FFmpegError) {
    while try graph.pull(into: shaped) {
      if let time = shaped.timestamp { shaped.timestamp = graph.timeBase.rescale(time, to: encoder.timeBase) }
      switch kind {
      case .video:
        // Two pictures at one time are one too many; corrupt files have them.
        if let time = shaped.timestamp, lastEncoded.map({ time > $0 }) ?? true {
          lastEncoded = time
          shaped.forgetPictureType()
          try encode(shaped)
        }
      case .audio(let plan):
        try timingGraph(plan).push(shaped)
        try pullTimed()
      }
      shaped.clear()
    }
  }

  private func timingGraph(_ plan: AudioPlan) throws(FFmpegError) -> FilterGraph {
    if let timing { return timing }
    let graph = try FilterGraph(for: shaped, timeBase: encoder.timeBase, filters: plan.timing)
    graph.setFrameSize(encoder.frameSize)
    timing = graph
    return graph
  }

  private func pullTimed() throws(FFmpegError) {
    guard let timing else { return }
    while try timing.pull(into: timed) {
      // The filter lets an overlap of less than a tenth of a second pass, which the container would refuse.
      let time = max(timed.timestamp.map { timing.timeBase.rescale($0, to: encoder.timeBase) } ?? 0, nextSample)
      timed.timestamp = time
      nextSample = time + Int64(timed.sampleCount)
      try encode(timed)
      timed.clear()
    }
  }

  private func encode(_ frame: Frame?) throws(FFmpegError) {
    try encoder.send(frame)
    while try encoder.receive(into: encoded) {
      // The encoder does not say how long a picture lasts; the last one's counts for the length of the film.
      if case .video = kind { encoded.duration = lastDuration }
      try muxer.write(encoded, to: output, timeBase: encoder.timeBase)
    }
  }
}
