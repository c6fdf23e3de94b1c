/// What a picture is, as far as its export depends on it.
public struct ImageFacts: Sendable, Hashable {
  /// Displayed pixels.
  public var width: Int
  public var height: Int
  /// Bytes of the file.
  public var size: Int64
  /// Whether it is a JPEG whose metadata can be cut away without touching a pixel: upright, sRGB, nothing odd.
  public var isClean: Bool

  public init(width: Int, height: Int, size: Int64, isClean: Bool) {
    self.width = width
    self.height = height
    self.size = size
    self.isClean = isClean
  }
}

/// What becomes of a picture (design section 6). Pure: facts and order in.
public struct ImagePlan: Sendable, Hashable {
  public enum Action: Sendable, Hashable {
    /// The source's own coded pixels, without its metadata.
    case pass
    case encode
  }

  public enum Reason: Sendable, Hashable {
    case smallAndClean, notClean, tooManyBytes, tooManyPixels, cropped

    /// For a person.
    public var sentence: String {
      switch self {
      case .smallAndClean: "a small JPEG goes out as it is, without its metadata"
      case .notClean: "only an upright JPEG in sRGB can go out without being encoded"
      case .tooManyBytes: "it has more bytes than pass unchanged"
      case .tooManyPixels: "it is made smaller"
      case .cropped: "it is cut to a square"
      }
    }
  }

  public var action: Action
  public var reason: Reason
  /// Pixels: the side of the square box that the result has to fit, or to fill where it is cut.
  public var boxSide: Int
  /// Of the result, give or take a pixel.
  public var width: Int
  public var height: Int

  /// Bytes up to which a JPEG is not encoded again: there is little to gain, and each time costs quality.
  public static let passLimit: Int64 = 300 << 10

  public init(_ facts: ImageFacts, job: ImageJob) {
    boxSide = Self.boxSide(long: max(facts.width, facts.height), short: min(facts.width, facts.height), job)
    if job.cropSquare {
      (width, height) = (boxSide, boxSide)
    } else {
      let scale = min(1, Double(boxSide) / Double(max(facts.width, facts.height, 1)))
      width = max(1, Int((Double(facts.width) * scale).rounded()))
      height = max(1, Int((Double(facts.height) * scale).rounded()))
    }
    if job.cropSquare {
      reason = .cropped
    } else if boxSide < max(facts.width, facts.height) {
      reason = .tooManyPixels
    } else if !facts.isClean {
      reason = .notClean
    } else if facts.size > Self.passLimit {
      reason = .tooManyBytes
    } else {
      reason = .smallAndClean
    }
    action = reason == .smallAndClean ? .pass : .encode
  }

  /// Whether the cleaned source may take the place of an encoded picture that came out larger.
  public var sourceWillDo: Bool { reason == .tooManyBytes || reason == .smallAndClean }

  private static func boxSide(long: Int, short: Int, _ job: ImageJob) -> Int {
    if job.cropSquare { return min(job.longEdge, short) }
    // A long screenshot would become unreadable; up to 6 Mpx it keeps its pixels.
    if long > 3 * short, long * short <= 6_000_000, long <= 65_500 { return long }
    return min(job.longEdge, long)
  }
}
