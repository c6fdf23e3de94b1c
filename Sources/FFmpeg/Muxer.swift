import CFFmpeg
import Glibc

/// Puts streams into a new file. No metadata is ever copied: what is not asked for here does not leave.
public final class Muxer {
  public enum Container: Sendable {
    /// MP4 with its index at the front.
    case mp4
    /// The same for sound alone.
    case m4a
    case mp3

    fileprivate var name: String {
      switch self {
      case .mp4: "mp4"
      case .m4a: "ipod"
      case .mp3: "mp3"
      }
    }
    fileprivate var options: [(String, String)] {
      switch self {
      case .mp4, .m4a: [("movflags", "+faststart")]
      case .mp3: [("id3v2_version", "0"), ("write_id3v1", "0")]
      }
    }
  }

  /// The operations that its errors name.
  public static let creating = "creating the output"
  public static let writing = "writing the output"

  private let context: UnsafeMutablePointer<AVFormatContext>
  private let container: Container
  /// What takes something out of a copied stream's packets.
  private var filters: [Int: PacketFilter] = [:]
  /// Where each stream ends so far, in seconds.
  private var ends: [Double] = []

  /// - Parameter path: absolute; the file is made, or emptied. It must have a real name, as the index is moved to the
  ///   front by reading the file again.
  public init(path: String, container: Container) throws(FFmpegError) {
    let operation = Self.creating
    var allocatedContext: UnsafeMutablePointer<AVFormatContext>?
    try check(avformat_alloc_output_context2(&allocatedContext, nil, container.name, "file:" + path), operation)
    context = try allocated(allocatedContext, operation)
    self.container = container
    context.pointee.flags |= AVFMT_FLAG_BITEXACT
    // All properties are set from here on, so that deinit also runs when this throws.
    try check(avio_open(&context.pointee.pb, "file:" + path, AVIO_FLAG_WRITE), operation)
  }

  deinit {
    avio_closep(&context.pointee.pb)
    avformat_free_context(context)
  }

  /// - Returns: the stream's index in the output.
  public func addStream(from encoder: Encoder) throws(FFmpegError) -> Int {
    let stream = try newStream()
    try check(avcodec_parameters_from_context(stream.pointee.codecpar, encoder.context), "adding a stream")
    stream.pointee.time_base = encoder.context.pointee.time_base
    stream.pointee.sample_aspect_ratio = encoder.context.pointee.sample_aspect_ratio
    stream.pointee.avg_frame_rate = encoder.context.pointee.framerate
    return Int(stream.pointee.index)
  }

  /// A stream whose packets are passed on as they are.
  public func addStream(copying demuxer: Demuxer, stream index: Int) throws(FFmpegError) -> Int {
    guard let source = demuxer.stream(index) else { throw FFmpegError(code: -EINVAL, operation: "adding a stream") }
    let stream = try newStream()
    let filter = try PacketFilter(withoutRemarks: source)
    try check(
      avcodec_parameters_copy(stream.pointee.codecpar, filter?.parameters ?? source.pointee.codecpar), "adding a stream"
    )
    filters[Int(stream.pointee.index)] = filter
    // Tags are the container's own; MP4 chooses its own for the codec.
    stream.pointee.codecpar.pointee.codec_tag = 0
    stream.pointee.time_base = source.pointee.time_base
    stream.pointee.sample_aspect_ratio = source.pointee.sample_aspect_ratio
    stream.pointee.avg_frame_rate = source.pointee.avg_frame_rate
    return Int(stream.pointee.index)
  }

  private func newStream() throws(FFmpegError) -> UnsafeMutablePointer<AVStream> {
    let stream = try allocated(avformat_new_stream(context, nil), "adding a stream")
    stream.pointee.disposition = AV_DISPOSITION_DEFAULT
    ends.append(0)
    return stream
  }

  /// Call once, when every stream is there.
  public func start() throws(FFmpegError) {
    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    for (key, value) in container.options { av_dict_set(&options, key, value, 0) }
    try check(avformat_write_header(context, &options), Self.writing)
  }

  /// - Parameters:
  ///   - packet: emptied.
  ///   - timeBase: of the packet's time stamps.
  public func write(_ packet: Packet, to index: Int, timeBase: Rational) throws(FFmpegError) {
    guard ends.indices.contains(index), let stream = context.pointee.streams[index] else {
      throw FFmpegError(code: -EINVAL, operation: Self.writing)
    }
    if let start = packet.presentation {
      ends[index] = max(ends[index], timeBase.seconds(start + packet.duration))
    }
    if let filter = filters[index], try !filter.apply(to: packet) { return }
    av_packet_rescale_ts(packet.raw, timeBase.raw, stream.pointee.time_base)
    packet.raw.pointee.stream_index = Int32(index)
    packet.raw.pointee.pos = -1
    try check(av_interleaved_write_frame(context, packet.raw), Self.writing)
    try checkOutput()
  }

  /// Completes the file; nothing may be written after it.
  public func finish() throws(FFmpegError) {
    try check(av_write_trailer(context), Self.writing)
    try checkOutput()
    try check(avio_closep(&context.pointee.pb), Self.writing)
  }

  /// A full disk shows only here until the buffers are flushed.
  private func checkOutput() throws(FFmpegError) {
    if let output = context.pointee.pb, output.pointee.error < 0 {
      throw FFmpegError(code: output.pointee.error, operation: Self.writing)
    }
  }

  /// Bytes so far, without the index.
  public var bytesWritten: Int64 {
    guard let output = context.pointee.pb else { return 0 }
    return max(output.pointee.pos, output.pointee.bytes_written)
  }

  /// Seconds that the longest stream lasts.
  public var duration: Double { ends.max() ?? 0 }
}
