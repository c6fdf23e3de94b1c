/// What the engine wants made. One order is one JSON line; the open descriptor of its input travels beside the line.
public struct ExportOrder: Sendable, Hashable {
  /// Comes back with every report.
  public var id: Int64
  public var job: ExportJob
  /// What a person calls the input, for messages only; no file of that name is ever opened.
  public var name: String
  /// Absolute path of the unfinished file to write; the engine renames it when it is done. Empty where nothing is written.
  public var output: String
  /// Only say what the job would do; nothing is written.
  public var plansOnly: Bool

  public init(id: Int64, job: ExportJob, name: String, output: String, plansOnly: Bool = false) {
    self.id = id
    self.job = job
    self.name = name
    self.output = output
    self.plansOnly = plansOnly
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
  /// What the result has to fit into.
  public enum Goal: Sendable, Hashable {
    /// Pixels; its bytes do not matter.
    case box(VideoBox)
    /// Bytes: the rungs of the ladder go from 1280×720 down to 426×240, and what is clean, within the first rung and
    /// within `limit` is passed on. Only where the last rung does not fit may it have more, up to `hardLimit`; beyond
    /// that the film is `tooLarge`.
    case ladder(limit: Int64, hardLimit: Int64)
  }

  public var goal: Goal
  /// x264's quality scale for preset `fast`.
  public var crf: Int

  public init(_ goal: Goal, crf: Int = 23) {
    self.goal = goal
    self.crf = crf
  }
}

public struct VideoBox: Sendable, Hashable {
  /// When a clean source (H.264, 8 bit 4:2:0, SDR, AAC, upright) is passed on, only cleaned of its metadata.
  public enum Remux: String, Sendable, CaseIterable {
    case never, ifClean
  }

  /// Pixels: the long and the short side of the box, which turns with the picture.
  public var longSide: Int
  public var shortSide: Int
  /// Bits per second of the picture; it never gets more than the source has.
  public var maximumRate: Int64
  public var remux: Remux

  public init(longSide: Int, shortSide: Int, maximumRate: Int64? = nil, remux: Remux) {
    self.longSide = longSide
    self.shortSide = shortSide
    self.maximumRate = maximumRate ?? Self.usualMaximumRate(shortSide: shortSide)
    self.remux = remux
  }

  /// Ceilings by size: what phones and messengers use for it, rounded.
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
