public import ExportProtocol
import FFmpeg
public import TaskModel
import Vips

/// Says what a file is, from its bytes; its name plays no part.
public enum Prober {
  /// - Throws: `Failure` where it can't be read, is damaged, or has too many pixels. A file that is no medium is `other`.
  public static func probe(_ input: MediaInput) throws(Failure) -> MediaFacts {
    guard try input.size() > 0 else { return .nothing }
    switch input.type.family {
    case .image: return try image(input)
    case .video, .audio: return try medium(input)
    case .other:
      do { return try medium(input) } catch { return .nothing }
    }
  }

  private static func image(_ input: MediaInput) throws(Failure) -> MediaFacts {
    let header = try ImageExporter.header(of: input)
    let shown = header.displaySize
    return MediaFacts(kind: .image, mime: header.format.mime, width: shown.width, height: shown.height)
  }

  private static func medium(_ input: MediaInput) throws(Failure) -> MediaFacts {
    let demuxer = try input.demuxer()
    let selection = MediaSelection(demuxer.streams)
    let duration = demuxer.duration.map { Int64(($0 * 1000).rounded()) }
    if let size = selection.video?.video?.displaySize {
      return MediaFacts(
        kind: .video, mime: mime(demuxer.format, isVideo: true, input), width: size.width, height: size.height,
        durationMs: duration)
    }
    guard selection.audio != nil else { return .nothing }
    return MediaFacts(kind: .audio, mime: mime(demuxer.format, isVideo: false, input), durationMs: duration)
  }

  /// By FFmpeg's name of the container.
  private static func mime(_ format: String, isVideo: Bool, _ input: MediaInput) -> String {
    switch format.split(separator: ",").first ?? "" {
    case "mov":
      isVideo ? (input.type.mime == "video/quicktime" ? "video/quicktime" : "video/mp4") : "audio/mp4"
    case "matroska": isVideo ? "video/x-matroska" : "audio/x-matroska"
    case "avi": "video/x-msvideo"
    case "mpegts": "video/mp2t"
    case "flv": "video/x-flv"
    case "gif": "image/gif"
    case "apng": "image/apng"
    case "mp3": "audio/mpeg"
    case "wav": "audio/wav"
    case "flac": "audio/flac"
    case "ogg": isVideo ? "video/ogg" : "audio/ogg"
    case "aac": "audio/aac"
    case "amr": "audio/amr"
    case "aiff": "audio/aiff"
    case "caf": "audio/x-caf"
    default: "application/octet-stream"
    }
  }
}

extension MediaFacts {
  fileprivate static let nothing = MediaFacts(kind: .other, mime: "application/octet-stream")
}

extension ImageHeader.Format {
  fileprivate var mime: String {
    switch self {
    case .jpeg: "image/jpeg"
    case .png: "image/png"
    case .webp: "image/webp"
    case .tiff: "image/tiff"
    case .gif: "image/gif"
    case .heif: "image/heic"
    case .avif: "image/avif"
    }
  }
}
