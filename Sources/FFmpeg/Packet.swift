import CFFmpeg

/// A piece of one stream, still coded. Reused from read to read.
public final class Packet {
  let raw: UnsafeMutablePointer<AVPacket>

  public init() throws(FFmpegError) { raw = try allocated(av_packet_alloc(), "allocating a packet") }

  deinit {
    var raw: UnsafeMutablePointer<AVPacket>? = raw
    av_packet_free(&raw)
  }

  public var streamIndex: Int { Int(raw.pointee.stream_index) }
  /// In the time base of the stream; nil when the file does not say.
  public var presentation: Int64? { raw.pointee.pts == tc_no_pts ? nil : raw.pointee.pts }
  public var decoding: Int64? {
    get { raw.pointee.dts == tc_no_pts ? nil : raw.pointee.dts }
    set { raw.pointee.dts = newValue ?? tc_no_pts }
  }
  /// In the time base of the stream; 0 when unknown.
  public var duration: Int64 {
    get { raw.pointee.duration }
    set { raw.pointee.duration = newValue }
  }
  /// Bytes.
  public var size: Int { Int(raw.pointee.size) }
  /// The first bytes, fewer where it has fewer.
  public func head(_ count: Int) -> [UInt8] {
    Array(UnsafeBufferPointer(start: raw.pointee.data, count: min(count, size)))
  }
  /// All bytes, for as long as the body runs.
  public func withBytes<T>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
    body(UnsafeRawBufferPointer(start: raw.pointee.data, count: size))
  }
  public var isKey: Bool { raw.pointee.flags & AV_PKT_FLAG_KEY != 0 }
  /// Needed to decode what follows, but cut out of the film by an edit list.
  public var isDiscarded: Bool { raw.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }

  /// Whether what follows is coded in another way than what the header of the file says.
  public var changesParameters: Bool {
    av_packet_get_side_data(raw, AV_PKT_DATA_NEW_EXTRADATA, nil) != nil
      || av_packet_get_side_data(raw, AV_PKT_DATA_PARAM_CHANGE, nil) != nil
  }

  /// Common encryption (ISO/IEC 23001-7), for which no key is at hand.
  public var isEncrypted: Bool { av_packet_get_side_data(raw, AV_PKT_DATA_ENCRYPTION_INFO, nil) != nil }

  public func clear() { av_packet_unref(raw) }

  /// Lets go of its own piece for that of the other one, which is empty then.
  func take(_ other: Packet) {
    av_packet_unref(raw)
    av_packet_move_ref(raw, other.raw)
  }

  /// Moves both time stamps by the same amount.
  public func shift(by offset: Int64) {
    if raw.pointee.pts != tc_no_pts { raw.pointee.pts &+= offset }
    if raw.pointee.dts != tc_no_pts { raw.pointee.dts &+= offset }
  }
}

/// A decoded picture, or a run of decoded samples.
public final class Frame {
  let raw: UnsafeMutablePointer<AVFrame>

  public init() throws(FFmpegError) { raw = try allocated(av_frame_alloc(), "allocating a frame") }

  deinit {
    var raw: UnsafeMutablePointer<AVFrame>? = raw
    av_frame_free(&raw)
  }

  /// The decoder's best guess of the presentation time, in the decoder's time base.
  public var bestTimestamp: Int64? {
    raw.pointee.best_effort_timestamp == tc_no_pts ? nil : raw.pointee.best_effort_timestamp
  }
  public var timestamp: Int64? {
    get { raw.pointee.pts == tc_no_pts ? nil : raw.pointee.pts }
    set { raw.pointee.pts = newValue ?? tc_no_pts }
  }
  /// In the decoder's time base; 0 when unknown.
  public var duration: Int64 { raw.pointee.pkt_duration }
  /// Whether the decoder had to make up a part of it.
  public var isFlawed: Bool { raw.pointee.decode_error_flags != 0 || raw.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 }
  /// 0 for pictures.
  public var sampleCount: Int { Int(raw.pointee.nb_samples) }
  /// Hertz; 0 for pictures.
  public var sampleRate: Int { Int(raw.pointee.sample_rate) }

  public func clear() { av_frame_unref(raw) }

  /// Lets go of its own picture for that of the other one, which is empty then.
  public func take(_ other: Frame) {
    av_frame_unref(raw)
    av_frame_move_ref(raw, other.raw)
  }

  /// Lets the encoder choose picture types anew, in place of those of the source.
  public func forgetPictureType() { raw.pointee.pict_type = AV_PICTURE_TYPE_NONE }
}

extension Rational {
  /// `value` of this time base in another one, rounded to nearest.
  public func rescale(_ value: Int64, to other: Rational) -> Int64 { av_rescale_q(value, raw, other.raw) }
  public static let microseconds = Rational(1, 1_000_000)
  public func seconds(_ value: Int64) -> Double { Double(value) * Double(numerator) / Double(denominator) }
}
