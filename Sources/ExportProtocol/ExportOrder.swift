/// What the engine wants made. One order is one JSON line; the open descriptor of its input travels beside the line.
public struct ExportOrder: Sendable, Hashable {
  /// Comes back with every report.
  public var id: Int64
  public var job: ExportJob
  /// What a person calls the input, for messages only; no file of that name is ever opened.
  public var name: String
  /// Absolute path of the unfinished file to write; the engine renames it when it is done. Empty for a probe.
  public var output: String

  public init(id: Int64, job: ExportJob, name: String, output: String) {
    self.id = id
    self.job = job
    self.name = name
    self.output = output
  }
}

public enum ExportJob: Sendable, Hashable {
  case image(ImageJob)
  case video(VideoJob)
  case audio
  case archive([ArchiveEntry])
  /// A picture out of a film.
  case poster(PosterJob)
  /// A small picture of a picture or a film.
  case thumbnail(ThumbnailJob)
  /// Only say what it is.
  case probe

  /// Whether an open descriptor comes with the order.
  public var takesInput: Bool { if case .archive = self { false } else { true } }
}

public struct ImageJob: Sendable, Hashable {
  public enum Format: String, Sendable, CaseIterable {
    case jpeg, heic
  }

  /// Pixels.
  public var longEdge: Int
  /// JPEG quality, 1 to 100. A HEIC has one of its own.
  public var quality: Int
  /// Cut to the centre square, whose side is then at most `longEdge`.
  public var cropSquare: Bool
  /// What it becomes, unless it is a small JPEG that is passed on.
  public var format: Format

  public init(longEdge: Int, quality: Int = 82, cropSquare: Bool = false, format: Format = .jpeg) {
    self.longEdge = longEdge
    self.quality = quality
    self.cropSquare = cropSquare
    self.format = format
  }
}

public struct PosterJob: Sendable, Hashable {
  /// Pixels.
  public var longEdge: Int
  /// JPEG quality, 1 to 100.
  public var quality: Int

  public init(longEdge: Int = 1280, quality: Int = 82) {
    self.longEdge = longEdge
    self.quality = quality
  }
}

public struct ThumbnailJob: Sendable, Hashable {
  /// Pixels: the square box that it has to fit.
  public var edge: Int
  /// JPEG quality, 1 to 100.
  public var quality: Int

  public init(edge: Int = 320, quality: Int = 82) {
    self.edge = edge
    self.quality = quality
  }
}

public struct VideoJob: Sendable, Hashable {
  /// When a clean source (H.264, 8 bit 4:2:0, SDR, AAC, upright) is passed on, only cleaned of its metadata.
  public enum Remux: String, Sendable, CaseIterable {
    case never, ifClean, ifCleanWithinBox
  }

  /// Pixels: the long and the short side of the box, which turns with the picture.
  public var longSide: Int
  public var shortSide: Int
  /// x264's quality scale for preset `fast`.
  public var crf: Int
  /// Bits per second of the picture; it never gets more than the source has.
  public var maximumRate: Int64
  public var remux: Remux
  /// Bytes; a larger result is `tooLarge`.
  public var hardLimit: Int64?

  public init(
    longSide: Int, shortSide: Int, crf: Int = 23, maximumRate: Int64? = nil, remux: Remux, hardLimit: Int64? = nil
  ) {
    self.longSide = longSide
    self.shortSide = shortSide
    self.crf = crf
    self.maximumRate = maximumRate ?? Self.usualMaximumRate(shortSide: shortSide)
    self.remux = remux
    self.hardLimit = hardLimit
  }

  /// Ceilings by rung: what phones and messengers use for these sizes, rounded.
  public static func usualMaximumRate(shortSide: Int) -> Int64 {
    switch shortSide {
    case 720...: 2_500_000
    case 540...: 1_500_000
    case 480...: 1_000_000
    case 360...: 800_000
    default: 250_000
    }
  }
}

public struct ArchiveEntry: Sendable, Hashable {
  /// Absolute, of a file or a folder.
  public var path: String
  /// What it is called in the archive.
  public var name: String

  public init(path: String, name: String) {
    self.path = path
    self.name = name
  }
}
