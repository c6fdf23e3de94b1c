import CFFmpeg
import Glibc

/// H.264 by libx264, constant quality under a ceiling: High profile, 8 bit 4:2:0, BT.709, limited range.
public struct VideoEncoderSettings: Sendable, Hashable {
  public var width: Int
  public var height: Int
  public var timeBase: Rational
  /// Frames per second, as a hint for rate control; time stamps rule.
  public var frameRate: Rational
  /// x264's quality scale, lower is better; not comparable across presets.
  public var crf: Int
  public var preset: String
  /// Bits per second.
  public var maximumRate: Int64
  /// Bits.
  public var bufferSize: Int64
  public var threads: Int

  public init(
    width: Int, height: Int, timeBase: Rational, frameRate: Rational, crf: Int, preset: String, maximumRate: Int64,
    bufferSize: Int64, threads: Int
  ) {
    self.width = width
    self.height = height
    self.timeBase = timeBase
    self.frameRate = frameRate
    self.crf = crf
    self.preset = preset
    self.maximumRate = maximumRate
    self.bufferSize = bufferSize
    self.threads = threads
  }
}

/// AAC-LC by FFmpeg's own encoder.
public struct AudioEncoderSettings: Sendable, Hashable {
  /// Hertz.
  public var sampleRate: Int
  public var channels: Int
  /// Bits per second.
  public var bitRate: Int64

  public init(sampleRate: Int, channels: Int, bitRate: Int64) {
    self.sampleRate = sampleRate
    self.channels = channels
    self.bitRate = bitRate
  }
}

/// Frames in, packets out.
public final class Encoder {
  let context: UnsafeMutablePointer<AVCodecContext>

  private init(codec name: String, configure: (inout AVCodecContext) -> Void, options: [(String, String)])
    throws(FFmpegError)
  {
    let operation = "opening the encoder \(name)"
    guard let codec = avcodec_find_encoder_by_name(name) else {
      throw FFmpegError(code: -ENOSYS, operation: operation)
    }
    context = try allocated(avcodec_alloc_context3(codec), operation)
    // MP4 keeps the parameter sets in its index; bit-exact leaves version strings out.
    context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT
    configure(&context.pointee)
    var dictionary: OpaquePointer?
    defer { av_dict_free(&dictionary) }
    for (key, value) in options { av_dict_set(&dictionary, key, value, 0) }
    try check(avcodec_open2(context, codec, &dictionary), operation)
  }

  public convenience init(_ settings: VideoEncoderSettings) throws(FFmpegError) {
    try self.init(
      codec: "libx264",
      configure: { context in
        context.width = Int32(settings.width)
        context.height = Int32(settings.height)
        context.pix_fmt = AV_PIX_FMT_YUV420P
        context.time_base = settings.timeBase.raw
        context.framerate = settings.frameRate.raw
        context.sample_aspect_ratio = AVRational(num: 1, den: 1)
        context.colorspace = AVCOL_SPC_BT709
        context.color_primaries = AVCOL_PRI_BT709
        context.color_trc = AVCOL_TRC_BT709
        context.color_range = AVCOL_RANGE_MPEG
        context.rc_max_rate = settings.maximumRate
        context.rc_buffer_size = Int32(clamping: settings.bufferSize)
        context.gop_size = 250
        context.thread_count = Int32(settings.threads)
      },
      options: [("preset", settings.preset), ("profile", "high"), ("crf", "\(settings.crf)")])
  }

  public convenience init(_ settings: AudioEncoderSettings) throws(FFmpegError) {
    try self.init(
      codec: "aac",
      configure: { context in
        context.sample_fmt = AV_SAMPLE_FMT_FLTP
        context.sample_rate = Int32(settings.sampleRate)
        av_channel_layout_default(&context.ch_layout, Int32(settings.channels))
        context.bit_rate = settings.bitRate
        context.time_base = AVRational(num: 1, den: Int32(settings.sampleRate))
      },
      options: [])
  }

  deinit {
    var context: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&context)
  }

  public var timeBase: Rational { Rational(context.pointee.time_base) }
  /// Samples that one packet of sound takes; 0 where any number goes.
  public var frameSize: Int { Int(context.pointee.frame_size) }

  /// - Parameter frame: nil at the end.
  public func send(_ frame: Frame?) throws(FFmpegError) {
    try check(avcodec_send_frame(context, frame?.raw), "encoding")
  }

  /// - Returns: false when more frames are needed, or at the end.
  public func receive(into packet: Packet) throws(FFmpegError) -> Bool {
    let result = avcodec_receive_packet(context, packet.raw)
    if result == tc_error_again || result == tc_error_eof { return false }
    try check(result, "encoding")
    return true
  }
}
