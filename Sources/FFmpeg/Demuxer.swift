import CFFmpeg
import Glibc

/// How much a file may ask for before anything of it is decoded.
public struct DemuxerLimits: Sendable {
  /// Short names of FFmpeg's demuxers. Anything else (playlists above all) is refused.
  public var formats: [String]
  public var maximumStreams = 32
  /// Bytes and seconds that finding the streams may take.
  public var probeBytes = 5 << 20
  public var probeSeconds = 5
  /// Pixels of one picture.
  public var maximumPixels: Int

  public init(formats: [String], maximumPixels: Int) {
    self.formats = formats
    self.maximumPixels = maximumPixels
  }
}

/// Takes a container apart, once from its start to its end; for another pass make another one, as seeking back finds the
/// true start in some containers only. Reads from an open descriptor; opens no other file and no network.
public final class Demuxer {
  let context: UnsafeMutablePointer<AVFormatContext>
  private let input: FileInput

  /// FFmpeg's name of the container, such as `mov,mp4,m4a,3gp,3g2,mj2`.
  public let format: String
  public private(set) var streams: [StreamInfo] = []

  /// - Parameter descriptor: of a regular file; stays the caller's.
  /// - Throws: `FFmpegError`; a container that is not in the list is EINVAL.
  public init(descriptor: Int32, limits: DemuxerLimits) throws(FFmpegError) {
    let input = try FileInput(descriptor: descriptor)
    self.input = input
    let context = try allocated(avformat_alloc_context(), "opening the input")
    context.pointee.pb = input.context
    context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    context.pointee.max_streams = Int32(limits.maximumStreams)
    // References to other files end here, whatever container carries them.
    context.pointee.io_open = { _, _, _, _, _ in -EACCES }

    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    av_dict_set(&options, "format_whitelist", limits.formats.joined(separator: ","), 0)
    av_dict_set(&options, "protocol_whitelist", "none", 0)
    av_dict_set_int(&options, "probesize", Int64(limits.probeBytes), 0)
    av_dict_set_int(&options, "analyzeduration", Int64(limits.probeSeconds) * tc_microseconds, 0)
    var opened: UnsafeMutablePointer<AVFormatContext>? = context
    // On failure FFmpeg frees the context.
    try check(avformat_open_input(&opened, nil, nil, &options), "opening the input")
    self.context = context
    format = context.pointee.iformat.map { String(cString: $0.pointee.name) } ?? ""
    try findStreams(maximumPixels: limits.maximumPixels)
    streams = (0..<Int(context.pointee.nb_streams)).compactMap { index in
      context.pointee.streams[index].map { StreamInfo($0, in: context) }
    }
    if isDurationGuessed { for index in streams.indices { streams[index].duration = nil } }
  }

  deinit {
    var context: UnsafeMutablePointer<AVFormatContext>? = context
    avformat_close_input(&context)
    // The input is released after this, so its callbacks outlive the context that calls them.
    withExtendedLifetime(input) {}
  }

  /// Finding the streams may decode a few pictures: under the same limit as the export itself.
  private func findStreams(maximumPixels: Int) throws(FFmpegError) {
    let count = Int(context.pointee.nb_streams)
    var options: [OpaquePointer?] = Array(repeating: nil, count: max(count, 1))
    for index in 0..<count {
      av_dict_set_int(&options[index], "max_pixels", Int64(maximumPixels), 0)
      av_dict_set(&options[index], "threads", "1", 0)
    }
    let result = options.withUnsafeMutableBufferPointer { avformat_find_stream_info(context, $0.baseAddress) }
    for index in options.indices { av_dict_free(&options[index]) }
    try check(result, "finding the streams")
  }

  /// Seconds, from the header or estimated; nil when unknown.
  public var duration: Double? {
    context.pointee.duration > 0 ? Double(context.pointee.duration) / Double(tc_microseconds) : nil
  }

  /// Seconds that the file promises, so that less of it means that a part is missing; nil where it promises nothing.
  ///
  /// A length by the bit rate is a guess. The header of a movie may say anything, but its tables list every sample. And
  /// Matroska counts from 0, wherever its packets begin.
  public var promisedDuration: Double? {
    guard let duration, !isDurationGuessed else { return nil }
    let start = Rational.microseconds.seconds(startTime)
    if format.hasPrefix("matroska") { return duration - max(0, start) }
    guard format.hasPrefix("mov") else { return duration }
    var last = 0.0
    for index in 0..<Int(context.pointee.nb_streams) {
      guard let stream = stream(index)?.pointee, let parameters = stream.codecpar?.pointee else { continue }
      guard [AVMEDIA_TYPE_VIDEO, AVMEDIA_TYPE_AUDIO].contains(parameters.codec_type) else { continue }
      guard stream.duration > 0 else { return duration }
      let begin = stream.start_time == tc_no_pts ? 0 : stream.start_time
      last = max(last, Rational(stream.time_base).seconds(begin + stream.duration) - start)
    }
    return last > 0 ? min(duration, last) : duration
  }

  private var isDurationGuessed: Bool {
    context.pointee.duration_estimation_method == AVFMT_DURATION_FROM_BITRATE
  }

  /// Where the time of this file begins, in microseconds.
  public var startTime: Int64 { context.pointee.start_time == tc_no_pts ? 0 : context.pointee.start_time }

  /// Bits per second of the whole file; nil when unknown.
  public var bitRate: Int64? { context.pointee.bit_rate > 0 ? context.pointee.bit_rate : nil }

  /// Whether a packet that was read is locked by a key that nobody here has.
  public private(set) var isEncrypted = false

  /// The system's error number, where reading the file itself failed.
  public var readError: Int32? { input.readError }

  /// What the header tells the decoder of the stream.
  public func decoderHeader(ofStream index: Int) -> [UInt8] {
    guard let parameters = stream(index)?.pointee.codecpar?.pointee else { return [] }
    return Array(UnsafeBufferPointer(start: parameters.extradata, count: Int(max(0, parameters.extradata_size))))
  }

  public func timeBase(ofStream index: Int) -> Rational {
    stream(index).map { Rational($0.pointee.time_base) } ?? .microseconds
  }

  func stream(_ index: Int) -> UnsafeMutablePointer<AVStream>? {
    guard index >= 0, index < Int(context.pointee.nb_streams) else { return nil }
    return context.pointee.streams[index]
  }

  /// Skips what no one asked for while reading.
  public func select(streams wanted: [Int]) {
    for index in 0..<Int(context.pointee.nb_streams) {
      stream(index)?.pointee.discard = wanted.contains(index) ? AVDISCARD_DEFAULT : AVDISCARD_ALL
    }
  }

  /// - Returns: false at the end.
  /// - Throws: `FFmpegError` where the file can be read no further.
  public func read(into packet: Packet) throws(FFmpegError) -> Bool {
    packet.clear()
    let result = av_read_frame(context, packet.raw)
    if result == tc_error_eof { return false }
    try check(result, "reading the input")
    if packet.isEncrypted { isEncrypted = true }
    return true
  }
}
