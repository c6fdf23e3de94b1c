import CFFmpeg

/// A fraction such as a time base or an aspect ratio. 0/x means unknown.
public struct Rational: Sendable, Hashable {
  public var numerator: Int32
  public var denominator: Int32

  public init(_ numerator: Int32, _ denominator: Int32) {
    self.numerator = numerator
    self.denominator = denominator
  }

  init(_ raw: AVRational) { self.init(raw.num, raw.den) }
  var raw: AVRational { AVRational(num: numerator, den: denominator) }

  /// Nil where the fraction says "unknown".
  public var value: Double? {
    numerator > 0 && denominator > 0 ? Double(numerator) / Double(denominator) : nil
  }
}

/// The linear part of a display matrix (ISO/IEC 14496-12, 8.3.2): a pixel at (p, q) is shown at (a·p + c·q, b·p + d·q).
public struct DisplayMatrix: Sendable, Hashable {
  public var a, b, c, d: Int32
  public init(a: Int32, b: Int32, c: Int32, d: Int32) {
    self.a = a
    self.b = b
    self.c = c
    self.d = d
  }
}

/// What a stream says about itself, as plain values.
public struct StreamInfo: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    case video(Video)
    case audio(Audio)
    case other
  }

  public struct Video: Sendable, Hashable {
    /// Coded pixels.
    public var width: Int
    public var height: Int
    public var sampleAspect: Rational
    public var displayMatrix: DisplayMatrix?
    /// FFmpeg's name, such as `yuv420p`; nil when unknown.
    public var pixelFormat: String?
    /// FFmpeg's names (`tv`, `bt709`, `smpte2084`…); nil when the file does not say.
    public var range: String?
    public var matrix: String?
    public var primaries: String?
    public var transfer: String?
    public var isInterlaced: Bool
    /// Frames per second, mean.
    public var frameRate: Rational
    /// Dolby Vision's own colours (profile 5), which look green and purple to whoever takes them for any others.
    public var isDolbyVisionOnly: Bool
    /// It can be seen through, and its decoder tells where.
    public var isTransparent: Bool

    public init(
      width: Int, height: Int, sampleAspect: Rational = Rational(0, 1), displayMatrix: DisplayMatrix? = nil,
      pixelFormat: String? = nil, range: String? = nil, matrix: String? = nil, primaries: String? = nil,
      transfer: String? = nil, isInterlaced: Bool = false, frameRate: Rational = Rational(0, 1),
      isDolbyVisionOnly: Bool = false, isTransparent: Bool = false
    ) {
      self.width = width
      self.height = height
      self.sampleAspect = sampleAspect
      self.displayMatrix = displayMatrix
      self.pixelFormat = pixelFormat
      self.range = range
      self.matrix = matrix
      self.primaries = primaries
      self.transfer = transfer
      self.isInterlaced = isInterlaced
      self.frameRate = frameRate
      self.isDolbyVisionOnly = isDolbyVisionOnly
      self.isTransparent = isTransparent
    }
  }

  public struct Audio: Sendable, Hashable {
    /// Hertz.
    public var sampleRate: Int
    public var channels: Int
    public init(sampleRate: Int, channels: Int) {
      self.sampleRate = sampleRate
      self.channels = channels
    }
  }

  public var index: Int
  public var kind: Kind
  /// FFmpeg's codec name, such as `h264`.
  public var codec: String
  /// FFmpeg's profile name, such as `High`; nil when unknown.
  public var profile: String?
  public var isDefault: Bool
  /// A cover picture, not a film.
  public var isAttachedPicture: Bool
  /// Seconds, from the header; nil when it does not say.
  public var duration: Double?
  /// Bits per second; nil when unknown.
  public var bitRate: Int64?

  public init(
    index: Int, kind: Kind, codec: String, profile: String? = nil, isDefault: Bool = false,
    isAttachedPicture: Bool = false, duration: Double? = nil, bitRate: Int64? = nil
  ) {
    self.index = index
    self.kind = kind
    self.codec = codec
    self.profile = profile
    self.isDefault = isDefault
    self.isAttachedPicture = isAttachedPicture
    self.duration = duration
    self.bitRate = bitRate
  }

  public var video: Video? { if case .video(let video) = kind { video } else { nil } }
  public var audio: Audio? { if case .audio(let audio) = kind { audio } else { nil } }
}

extension StreamInfo {
  init(_ stream: UnsafeMutablePointer<AVStream>, in context: UnsafeMutablePointer<AVFormatContext>) {
    let parameters = stream.pointee.codecpar.pointee
    let timeBase = stream.pointee.time_base
    let disposition = stream.pointee.disposition
    let duration = stream.pointee.duration
    self.init(
      index: Int(stream.pointee.index), kind: .other, codec: text(avcodec_get_name(parameters.codec_id)) ?? "unknown",
      profile: text(avcodec_profile_name(parameters.codec_id, parameters.profile)),
      isDefault: disposition & AV_DISPOSITION_DEFAULT != 0,
      isAttachedPicture: disposition & AV_DISPOSITION_ATTACHED_PIC != 0,
      duration: duration > 0 ? Double(duration) * Double(timeBase.num) / Double(timeBase.den) : nil,
      bitRate: parameters.bit_rate > 0 ? parameters.bit_rate : nil)
    switch parameters.codec_type {
    case AVMEDIA_TYPE_VIDEO:
      kind = .video(
        Video(
          width: Int(parameters.width), height: Int(parameters.height),
          sampleAspect: Rational(av_guess_sample_aspect_ratio(context, stream, nil)),
          displayMatrix: DisplayMatrix(sideDataOf: stream),
          pixelFormat: text(av_get_pix_fmt_name(AVPixelFormat(rawValue: parameters.format))),
          range: known(parameters.color_range.rawValue, 0, av_color_range_name(parameters.color_range)),
          matrix: known(parameters.color_space.rawValue, 2, av_color_space_name(parameters.color_space)),
          primaries: known(parameters.color_primaries.rawValue, 2, av_color_primaries_name(parameters.color_primaries)),
          transfer: known(parameters.color_trc.rawValue, 2, av_color_transfer_name(parameters.color_trc)),
          isInterlaced: parameters.field_order != AV_FIELD_PROGRESSIVE && parameters.field_order != AV_FIELD_UNKNOWN,
          frameRate: Rational(stream.pointee.avg_frame_rate), isDolbyVisionOnly: isDolbyVisionOnly(stream),
          isTransparent: isTransparent(parameters)))
    case AVMEDIA_TYPE_AUDIO:
      kind = .audio(
        Audio(sampleRate: Int(parameters.sample_rate), channels: Int(parameters.ch_layout.nb_channels)))
    default: break
    }
  }
}

extension DisplayMatrix {
  fileprivate init?(sideDataOf stream: UnsafeMutablePointer<AVStream>) {
    var size = 0
    guard let data = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size), size >= 36 else { return nil }
    let cell = { (index: Int) in UnsafeRawPointer(data).loadUnaligned(fromByteOffset: index * 4, as: Int32.self) }
    self.init(a: cell(0), b: cell(1), c: cell(3), d: cell(4))
  }
}

/// Other codecs have four channels too, but write nothing of use into the fourth one, as AVI without compression; and the
/// decoder of GIF puts white there by itself.
private func isTransparent(_ parameters: AVCodecParameters) -> Bool {
  let telling = [AV_CODEC_ID_APNG, AV_CODEC_ID_PNG, AV_CODEC_ID_PRORES, AV_CODEC_ID_QTRLE]
  guard telling.contains(parameters.codec_id),
    let format = av_pix_fmt_desc_get(AVPixelFormat(rawValue: parameters.format))
  else { return false }
  return format.pointee.flags & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0
}

/// Whether it has no base layer that other decoders understand.
private func isDolbyVisionOnly(_ stream: UnsafeMutablePointer<AVStream>) -> Bool {
  var size = 0
  guard let data = av_stream_get_side_data(stream, AV_PKT_DATA_DOVI_CONF, &size),
    size >= MemoryLayout<AVDOVIDecoderConfigurationRecord>.size
  else { return false }
  let record = UnsafeRawPointer(data).loadUnaligned(as: AVDOVIDecoderConfigurationRecord.self)
  return record.dv_profile == 5
}

private func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }

/// The name, unless the value is the one that stands for "not said".
private func known(_ value: UInt32, _ unspecified: UInt32, _ name: UnsafePointer<CChar>?) -> String? {
  value == unspecified ? nil : text(name)
}
