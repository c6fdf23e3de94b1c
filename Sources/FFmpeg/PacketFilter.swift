import CFFmpeg

/// Takes out of H.264 what is no picture: its SEI messages (ITU-T H.264, annex D) hold whatever a camera likes to write,
/// such as the place and speed of a car, its captions, and the settings of the encoder. No picture needs them.
final class PacketFilter {
  private let context: UnsafeMutablePointer<AVBSFContext>
  private static let operation = "taking remarks out of the picture"
  /// The type of a NAL unit that holds SEI.
  private static let remarks = "6"

  /// - Returns: nil where the stream is not H.264.
  init?(withoutRemarks stream: UnsafeMutablePointer<AVStream>) throws(FFmpegError) {
    guard stream.pointee.codecpar.pointee.codec_id == AV_CODEC_ID_H264 else { return nil }
    var allocatedContext: UnsafeMutablePointer<AVBSFContext>?
    try check(av_bsf_list_parse_str("filter_units=remove_types=\(Self.remarks)", &allocatedContext), Self.operation)
    context = try allocated(allocatedContext, Self.operation)
    try check(avcodec_parameters_copy(context.pointee.par_in, stream.pointee.codecpar), Self.operation)
    context.pointee.time_base_in = stream.pointee.time_base
    try check(av_bsf_init(context), Self.operation)
  }

  deinit {
    var context: UnsafeMutablePointer<AVBSFContext>? = context
    av_bsf_free(&context)
  }

  /// Of what comes out.
  var parameters: UnsafeMutablePointer<AVCodecParameters>? { context.pointee.par_out }

  /// - Returns: false where nothing is left of the packet.
  func apply(to packet: Packet) throws(FFmpegError) -> Bool {
    try check(av_bsf_send_packet(context, packet.raw), Self.operation)
    let result = av_bsf_receive_packet(context, packet.raw)
    if result == tc_error_again { return false }
    try check(result, Self.operation)
    return true
  }
}
