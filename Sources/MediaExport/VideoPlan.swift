import FFmpeg

/// The streams of a container that are the film.
struct MediaSelection: Equatable {
  var video: StreamInfo?
  var audio: StreamInfo?

  /// Covers are no film; the default track goes before the others, the larger picture before the smaller.
  init(_ streams: [StreamInfo]) {
    func area(_ stream: StreamInfo) -> Int { (stream.video?.width ?? 0) * (stream.video?.height ?? 0) }
    func rank(_ stream: StreamInfo) -> (Int, Int) { (stream.isDefault ? 1 : 0, area(stream)) }
    video = Self.first(streams.filter { !$0.isAttachedPicture && area($0) > 0 }, by: rank)
    audio = Self.first(streams.filter { ($0.audio?.channels ?? 0) > 0 }, by: rank)
  }

  var streams: [StreamInfo] { [video, audio].compactMap { $0 } }

  /// The first of those with the highest rank.
  private static func first(_ streams: [StreamInfo], by rank: (StreamInfo) -> (Int, Int)) -> StreamInfo? {
    streams.reduce(nil) { best, next in
      guard let best else { return next }
      return rank(next) > rank(best) ? next : best
    }
  }
}

/// What becomes of the picture of a video. Pure: a stream and a size in, filters and settings out.
struct VideoPlan: Equatable {
  /// Of the output, turned.
  var size: PixelSize
  var filters: String
  /// Frames per second to expect of the output.
  var frameRate: Rational
  /// Drop what comes sooner than a thirtieth of a second after the frame before.
  var capsFrameRate: Bool
  /// Bits per second.
  var maximumRate: Int64
  /// Bits.
  var bufferSize: Int64

  init(_ video: StreamInfo.Video, size: PixelSize, maximumRate: Int64, bufferSize: Int64) {
    self.size = size
    self.maximumRate = maximumRate
    self.bufferSize = bufferSize
    let rate = video.frameRate.value ?? 30
    capsFrameRate = rate > MediaLimits.frameRate + 1
    frameRate = capsFrameRate || rate < 0.1 ? Rational(30, 1) : video.frameRate
    filters = Self.filters(video, size: size)
  }

  /// Never more than the source has, so that a small clip does not grow. Newer codecs say the same with fewer bits, and
  /// their clips may grow by so much.
  /// - Parameter wholeRate: bits per second of the whole file; nil when unknown.
  /// - Returns: bits per second; nil when unknown.
  static func enough(for stream: StreamInfo, wholeRate: Int64?) -> Int64? {
    (stream.bitRate ?? wholeRate).map { rate in
      let isNewer = ["hevc", "vp9", "av1"].contains(stream.codec)
      return max(32_000, isNewer ? rate * 8 / 5 : rate)
    }
  }

  /// Scaled before it is turned (fewer pixels to turn) and before it is tone mapped (2.2 times as fast).
  static func filters(_ video: StreamInfo.Video, size: PixelSize) -> String {
    let unturned = video.orientation.swapsSides ? size.turned : size
    var chain: [String] = []
    if video.isInterlaced { chain.append("bwdif=mode=send_frame:deint=interlaced") }
    // What can be seen through lies on white, like a picture that stands still.
    if video.isTransparent { chain += onWhite }
    if let transfer = video.hdrTransfer {
      chain += toneMapping(transfer, video.wideGamut ?? "bt2020", to: unturned)
    } else if let gamut = video.wideGamut, video.isYUV {
      chain += narrowing(gamut, video, to: unturned)
    } else {
      // What says nothing is BT.709 if it is HD, and BT.601 otherwise, as players have it; swscale would take 601 always.
      let matrix = video.matrix == nil && video.isHD && video.isYUV ? ":in_color_matrix=bt709" : ""
      chain.append(
        "scale=\(unturned.width):\(unturned.height):flags=bicubic\(matrix):out_color_matrix=bt709:out_range=tv")
    }
    chain += video.orientation.filters
    chain += ["setsar=1", "format=yuv420p"]
    return chain.joined(separator: ",")
  }

  /// HLG or PQ to SDR: 203 nits are white (ITU-R BT.2408), mobius keeps what is below almost as it is.
  private static func toneMapping(_ transfer: String, _ gamut: String, to size: PixelSize) -> [String] {
    [
      evenSides,
      "zscale=\(size.width):\(size.height):tin=\(transfer):pin=\(gamut):min=2020_ncl:t=linear:npl=203",
      "format=gbrpf32le",
      "zscale=p=bt709", "tonemap=tonemap=mobius:desat=0", "zscale=t=bt709:m=bt709:r=tv:d=error_diffusion",
    ]
  }
}

extension VideoPlan {
  /// zscale wants them for 4:2:0.
  private static let evenSides = "crop=trunc(iw/2)*2:trunc(ih/2)*2"

  private static let onWhite = [
    "format=rgba",
    "split[over][shape];[shape]lutrgb=r=255:g=255:b=255:a=255[white];[white][over]overlay=format=rgb",
  ]

  /// SDR in BT.2020 or P3, whose numbers would look dull as those of BT.709.
  private static func narrowing(_ gamut: String, _ video: StreamInfo.Video, to size: PixelSize) -> [String] {
    let matrix = video.matrix == nil ? gamut == "bt2020" ? ":min=2020_ncl" : ":min=709" : ""
    let transfer = video.transfer == nil ? ":tin=709" : ""
    return [
      evenSides,
      "zscale=\(size.width):\(size.height):pin=\(gamut)\(matrix)\(transfer):p=bt709:t=bt709:m=bt709:r=tv:d=error_diffusion",
    ]
  }
}

extension StreamInfo.Video {
  /// FFmpeg's name of the transfer function, where it is one of high dynamic range.
  var hdrTransfer: String? { transfer.flatMap { ["smpte2084", "arib-std-b67"].contains($0) ? $0 : nil } }

  /// FFmpeg's name of the primaries, where they reach beyond those of BT.709.
  var wideGamut: String? { primaries.flatMap { ["bt2020", "smpte431", "smpte432"].contains($0) ? $0 : nil } }

  /// As players tell it: wider or higher than PAL.
  var isHD: Bool { width >= 1280 || height > 576 }

  var isYUV: Bool { pixelFormat?.hasPrefix("yuv") ?? false }
}

extension MediaSelection {
  /// Whether every player shows it as it is: H.264, 8 bit 4:2:0, progressive, SDR, upright, square pixels, and AAC with
  /// one or two channels, or no sound.
  var isClean: Bool { stain == nil }

  /// Why it is not clean, in words that follow "it" or "its"; nil where it is.
  var stain: String? {
    guard let video, let picture = video.video else { return "it holds no picture" }
    if video.codec != "h264" { return "its picture is \(video.codec) and not H.264" }
    if picture.hdrTransfer != nil { return "it is HDR" }
    let profiles: Set<String> = ["Constrained Baseline", "Baseline", "Main", "High"]
    guard let profile = video.profile, profiles.contains(profile), picture.pixelFormat == "yuv420p" else {
      return "its picture is not 8 bit 4:2:0"
    }
    if picture.range ?? "tv" != "tv" { return "its colours have the full range" }
    if picture.isInterlaced { return "it is interlaced" }
    if picture.wideGamut != nil { return "its colours are of a wide gamut" }
    if picture.orientation != .upright { return "it has to be turned" }
    if picture.sampleAspect.value ?? 1 != 1 { return "its pixels are not square" }
    if picture.frameRate.value ?? 30 > 61 { return "it has more than 60 frames a second" }
    return audio.map(\.isCleanAAC) == false ? "its sound is not AAC with one or two channels" : nil
  }
}

extension StreamInfo {
  var isCleanAAC: Bool { codec == "aac" && profile == "LC" && (1...2).contains(audio?.channels ?? 0) }
}
