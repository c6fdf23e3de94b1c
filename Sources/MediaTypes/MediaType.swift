/// What a file is, by its first bytes; its name says nothing.
public struct MediaType: Sendable, Hashable {
  public enum Family: Sendable, Hashable {
    case image, video, audio, other
  }

  public let mime: String
  public let family: Family
  /// A picture format that can hold a movie as well (GIF, APNG, animated WebP).
  public let canMove: Bool

  public init(_ mime: String, _ family: Family, canMove: Bool = false) {
    self.mime = mime
    self.family = family
    self.canMove = canMove
  }

  /// Whether its bytes are as dense as they can be, so that nobody should try to deflate them.
  public var isCompressed: Bool {
    switch family {
    case .image: mime != "image/tiff"
    case .video: mime != "video/x-msvideo"
    case .audio: !["audio/wav", "audio/aiff"].contains(mime)
    case .other: MediaType.compressed.contains(mime)
    }
  }

  private static let compressed: Set<String> = [
    "application/zip", "application/gzip", "application/zstd", "application/x-xz", "application/x-bzip2",
    "application/x-7z-compressed", "application/vnd.rar",
  ]

  public static let unknown = MediaType("application/octet-stream", .other)

  /// How many bytes `of` wants to see.
  public static let sniffLength = 4096

  /// - Parameter head: the first `sniffLength` bytes of a file, or all where it has fewer.
  public static func of(_ head: [UInt8]) -> MediaType {
    for signature in signatures where signature.matches(head) { return signature.type }
    return isoMedia(head) ?? matroska(head) ?? ogg(head) ?? transportStream(head) ?? mpegAudio(head) ?? .unknown
  }

  private struct Signature {
    let type: MediaType
    let parts: [(offset: Int, bytes: [UInt8])]

    init(_ type: MediaType, _ parts: (Int, String)...) {
      self.type = type
      self.parts = parts.map { ($0.0, Array($0.1.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })) }
    }

    func matches(_ head: [UInt8]) -> Bool {
      parts.allSatisfy { head.count >= $0.offset + $0.bytes.count && head[$0.offset...].starts(with: $0.bytes) }
    }
  }

  private static let signatures: [Signature] = [
    Signature(MediaType("image/jpeg", .image), (0, "\u{FF}\u{D8}\u{FF}")),
    Signature(MediaType("image/png", .image, canMove: true), (0, "\u{89}PNG\r\n\u{1A}\n")),
    Signature(MediaType("image/gif", .image, canMove: true), (0, "GIF87a")),
    Signature(MediaType("image/gif", .image, canMove: true), (0, "GIF89a")),
    Signature(MediaType("image/webp", .image, canMove: true), (0, "RIFF"), (8, "WEBP")),
    Signature(MediaType("image/tiff", .image), (0, "II*\u{0}")),
    Signature(MediaType("image/tiff", .image), (0, "MM\u{0}*")),
    // BigTIFF.
    Signature(MediaType("image/tiff", .image), (0, "II+\u{0}\u{8}\u{0}")),
    Signature(MediaType("image/tiff", .image), (0, "MM\u{0}+\u{0}\u{8}")),
    Signature(MediaType("video/x-msvideo", .video), (0, "RIFF"), (8, "AVI ")),
    Signature(MediaType("video/x-flv", .video), (0, "FLV\u{1}")),
    Signature(MediaType("audio/wav", .audio), (0, "RIFF"), (8, "WAVE")),
    Signature(MediaType("audio/wav", .audio), (0, "RF64"), (8, "WAVE")),
    Signature(MediaType("audio/flac", .audio), (0, "fLaC")),
    Signature(MediaType("audio/amr", .audio), (0, "#!AMR")),
    Signature(MediaType("audio/aiff", .audio), (0, "FORM"), (8, "AIFF")),
    Signature(MediaType("audio/aiff", .audio), (0, "FORM"), (8, "AIFC")),
    Signature(MediaType("audio/x-caf", .audio), (0, "caff\u{0}\u{1}")),
    Signature(MediaType("audio/mpeg", .audio), (0, "ID3")),
    Signature(MediaType("application/zip", .other), (0, "PK\u{3}\u{4}")),
    Signature(MediaType("application/gzip", .other), (0, "\u{1F}\u{8B}")),
    Signature(MediaType("application/zstd", .other), (0, "\u{28}\u{B5}\u{2F}\u{FD}")),
    Signature(MediaType("application/x-xz", .other), (0, "\u{FD}7zXZ\u{0}")),
    Signature(MediaType("application/x-bzip2", .other), (0, "BZh"), (4, "1AY&SY")),
    Signature(MediaType("application/x-7z-compressed", .other), (0, "7z\u{BC}\u{AF}\u{27}\u{1C}")),
    Signature(MediaType("application/vnd.rar", .other), (0, "Rar!\u{1A}\u{7}")),
    Signature(MediaType("application/pdf", .other), (0, "%PDF-")),
  ]

  /// ISO base media (ISO/IEC 14496-12): the brand of the `ftyp` box, or an older QuickTime box at the start.
  private static func isoMedia(_ head: [UInt8]) -> MediaType? {
    guard head.count >= 12 else { return nil }
    switch text(head[4..<8]) {
    case "ftyp": break
    case "moov", "mdat", "wide", "free", "skip", "pnot": return MediaType("video/quicktime", .video)
    default: return nil
    }
    let length = min(head.count, Int(head[0]) << 24 | Int(head[1]) << 16 | Int(head[2]) << 8 | Int(head[3]))
    var brands = [text(head[8..<12])]
    if length > 16 { brands += stride(from: 16, to: length - 3, by: 4).map { text(head[$0..<$0 + 4]) } }
    let major = brands[0]
    switch major {
    case "avif", "avis": return MediaType("image/avif", .image)
    case "heic", "heix", "heim", "heis", "hevc", "hevx": return MediaType("image/heic", .image)
    case "mif1", "msf1", "miaf":
      return MediaType(brands.contains("avif") ? "image/avif" : "image/heic", .image)
    case "M4A ", "M4B ", "M4P ": return MediaType("audio/mp4", .audio)
    case "qt  ": return MediaType("video/quicktime", .video)
    case let brand where brand.hasPrefix("3g"): return MediaType("video/3gpp", .video)
    default: return MediaType("video/mp4", .video)
    }
  }

  /// Matroska (RFC 9559) and WebM by the EBML header's DocType.
  private static func matroska(_ head: [UInt8]) -> MediaType? {
    guard head.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) else { return nil }
    let isWebM = text(head.prefix(64)[...]).contains("webm")
    return MediaType(isWebM ? "video/webm" : "video/x-matroska", .video)
  }

  /// Ogg (RFC 5334): the first packet tells whether there is video in it.
  private static func ogg(_ head: [UInt8]) -> MediaType? {
    guard head.starts(with: Array("OggS".utf8)) else { return nil }
    let isVideo = text(head.prefix(128)[...]).contains("theora")
    return isVideo ? MediaType("video/ogg", .video) : MediaType("audio/ogg", .audio)
  }

  /// MPEG transport stream: the sync byte at three packets' distance, of 188 bytes or 192 with a time code before.
  private static func transportStream(_ head: [UInt8]) -> MediaType? {
    for (start, step) in [(0, 188), (4, 192)] {
      let places = (0..<3).map { start + $0 * step }
      if places.allSatisfy({ $0 < head.count && head[$0] == 0x47 }) { return MediaType("video/mp2t", .video) }
    }
    return nil
  }

  /// MPEG audio or ADTS by the frame's sync word (ISO/IEC 11172-3, 13818-7). Layer I is left out: nobody has it, and its
  /// sync word is the byte order mark of UTF-16.
  private static func mpegAudio(_ head: [UInt8]) -> MediaType? {
    guard head.count >= 4, head[0] == 0xFF, head[1] & 0xE0 == 0xE0 else { return nil }
    if head[1] & 0xF6 == 0xF0 { return MediaType("audio/aac", .audio) }
    let layer = head[1] & 0x06
    let isLayer = (layer == 0x02 || layer == 0x04) && head[1] & 0x18 != 0x08
    let isRate = head[2] & 0xF0 != 0xF0 && head[2] & 0x0C != 0x0C
    return isLayer && isRate ? MediaType("audio/mpeg", .audio) : nil
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }
}
