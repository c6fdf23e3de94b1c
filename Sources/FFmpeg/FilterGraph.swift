import CFFmpeg
import Glibc

/// A chain of filters for frames of one shape.
public final class FilterGraph {
  private var graph: UnsafeMutablePointer<AVFilterGraph>?
  private let source: UnsafeMutablePointer<AVFilterContext>
  private let sink: UnsafeMutablePointer<AVFilterContext>
  private let shape: Shape

  /// What a graph is built for: frames of another shape need a new graph.
  private struct Shape: Equatable {
    var format: Int32
    var width, height: Int32
    var sampleRate: Int32
    var layout: String?

    init(_ frame: UnsafeMutablePointer<AVFrame>) {
      format = frame.pointee.format
      width = frame.pointee.width
      height = frame.pointee.height
      sampleRate = frame.pointee.sample_rate
      layout = frame.pointee.nb_samples > 0 ? FilterGraph.layoutName(frame) : nil
    }
    var isAudio: Bool { layout != nil }
  }

  /// - Parameters:
  ///   - frame: the first one that will go in.
  ///   - timeBase: of the frames that go in.
  ///   - filters: in FFmpeg's notation, such as `scale=960:540,setsar=1`.
  public init(for frame: Frame, timeBase: Rational, filters: String) throws(FFmpegError) {
    let operation = "building the filters"
    let shape = Shape(frame.raw)
    let graph = try allocated(avfilter_graph_alloc(), operation)
    var owned: UnsafeMutablePointer<AVFilterGraph>? = graph
    do throws(FFmpegError) {
      graph.pointee.nb_threads = 1
      source = try Self.node(shape.isAudio ? "abuffer" : "buffer", "in", Self.arguments(frame, timeBase), graph)
      sink = try Self.node(shape.isAudio ? "abuffersink" : "buffersink", "out", nil, graph)
      try Self.connect(filters, from: source, to: sink, in: graph)
      try check(avfilter_graph_config(graph, nil), operation)
    } catch {
      avfilter_graph_free(&owned)
      throw error
    }
    self.graph = graph
    self.shape = shape
  }

  deinit { avfilter_graph_free(&graph) }

  /// Whether the frame has the shape that the graph was built for.
  public func accepts(_ frame: Frame) -> Bool { Shape(frame.raw) == shape }

  /// Of the frames that come out.
  public var timeBase: Rational { Rational(av_buffersink_get_time_base(sink)) }

  /// Makes sound come out in runs of so many samples, as AAC wants them.
  public func setFrameSize(_ samples: Int) { av_buffersink_set_frame_size(sink, UInt32(samples)) }

  /// - Parameter frame: emptied; nil at the end.
  public func push(_ frame: Frame?) throws(FFmpegError) {
    try check(av_buffersrc_add_frame_flags(source, frame?.raw, 0), "filtering")
  }

  /// - Returns: false when more frames are needed, or at the end.
  public func pull(into frame: Frame) throws(FFmpegError) -> Bool {
    let result = av_buffersink_get_frame(sink, frame.raw)
    if result == tc_error_again || result == tc_error_eof { return false }
    try check(result, "filtering")
    return true
  }

  private static func node(
    _ filter: String, _ name: String, _ arguments: String?, _ graph: UnsafeMutablePointer<AVFilterGraph>
  ) throws(FFmpegError) -> UnsafeMutablePointer<AVFilterContext> {
    var node: UnsafeMutablePointer<AVFilterContext>?
    try check(
      avfilter_graph_create_filter(&node, avfilter_get_by_name(filter), name, arguments, nil, graph),
      "building the filters")
    return try allocated(node, "building the filters")
  }

  private static func connect(
    _ filters: String, from source: UnsafeMutablePointer<AVFilterContext>,
    to sink: UnsafeMutablePointer<AVFilterContext>, in graph: UnsafeMutablePointer<AVFilterGraph>
  ) throws(FFmpegError) {
    var outputs = avfilter_inout_alloc()
    var inputs = avfilter_inout_alloc()
    defer {
      avfilter_inout_free(&outputs)
      avfilter_inout_free(&inputs)
    }
    outputs?.pointee.name = av_strdup("in")
    outputs?.pointee.filter_ctx = source
    inputs?.pointee.name = av_strdup("out")
    inputs?.pointee.filter_ctx = sink
    try check(avfilter_graph_parse_ptr(graph, filters, &inputs, &outputs, nil), "building the filters")
  }

  private static func arguments(_ frame: Frame, _ timeBase: Rational) -> String {
    let raw = frame.raw.pointee
    let base = "time_base=\(timeBase.numerator)/\(timeBase.denominator)"
    guard raw.nb_samples > 0 else {
      let aspect = raw.sample_aspect_ratio
      return "\(base):video_size=\(raw.width)x\(raw.height):pix_fmt=\(raw.format)"
        + ":pixel_aspect=\(aspect.num)/\(max(aspect.den, 1))"
    }
    let layout = layoutName(frame.raw)
    return "\(base):sample_rate=\(raw.sample_rate):sample_fmt=\(raw.format):channel_layout=\(layout)"
  }

  /// A layout that only counts channels becomes the usual one for that count, in the frame too.
  private static func layoutName(_ frame: UnsafeMutablePointer<AVFrame>) -> String {
    if frame.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC {
      let channels = frame.pointee.ch_layout.nb_channels
      av_channel_layout_default(&frame.pointee.ch_layout, channels)
    }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let base = buffer.baseAddress,
        av_channel_layout_describe(&frame.pointee.ch_layout, base, buffer.count) > 0
      else { return "stereo" }
      return String(cString: base)
    }
  }
}
