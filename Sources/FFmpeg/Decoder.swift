import CFFmpeg
import Glibc

/// Packets of one stream in, frames out.
public final class Decoder {
  private let context: UnsafeMutablePointer<AVCodecContext>
  public let timeBase: Rational
  /// FFmpeg's name of what it decodes, such as `h264`.
  public let codec: String

  /// - Parameters:
  ///   - threads: 1 or more.
  ///   - maximumPixels: of one picture; a larger one is an error of the packet that brings it.
  public init(of demuxer: Demuxer, stream index: Int, threads: Int, maximumPixels: Int) throws(FFmpegError) {
    let operation = "opening the decoder"
    guard let stream = demuxer.stream(index), let parameters = stream.pointee.codecpar else {
      throw FFmpegError(code: -EINVAL, operation: operation)
    }
    guard let codec = avcodec_find_decoder(parameters.pointee.codec_id) else {
      throw FFmpegError(code: -ENOSYS, operation: operation)
    }
    context = try allocated(avcodec_alloc_context3(codec), operation)
    self.codec = String(cString: avcodec_get_name(parameters.pointee.codec_id))
    timeBase = Rational(stream.pointee.time_base)
    try check(avcodec_parameters_to_context(context, parameters), operation)
    // Without it the samples that an edit list skips would not move the time stamps.
    context.pointee.pkt_timebase = stream.pointee.time_base
    context.pointee.thread_count = Int32(threads)
    context.pointee.max_pixels = Int64(maximumPixels)
    try check(avcodec_open2(context, codec, nil), operation)
  }

  deinit {
    var context: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&context)
  }

  /// - Parameter packet: nil at the end of the stream.
  /// - Throws: `FFmpegError` for a packet that makes no sense; the next one may be sent all the same.
  public func send(_ packet: Packet?) throws(FFmpegError) {
    let result = avcodec_send_packet(context, packet?.raw)
    if packet == nil, result == tc_error_eof { return }
    try check(result, "decoding")
  }

  /// Forgets what it holds, so that packets from another place of the stream can follow.
  public func flush() { avcodec_flush_buffers(context) }

  /// - Returns: false when more packets are needed, or at the end.
  public func receive(into frame: Frame) throws(FFmpegError) -> Bool {
    let result = avcodec_receive_frame(context, frame.raw)
    if result == tc_error_again || result == tc_error_eof { return false }
    try check(result, "decoding")
    return true
  }
}
