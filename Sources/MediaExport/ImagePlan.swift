import ExportProtocol

/// What a picture is, as far as its export depends on it.
struct ImageFacts: Sendable, Hashable {
  /// Displayed pixels.
  var width: Int
  var height: Int
  /// Bytes of the file.
  var size: Int64
  /// Whether it is a JPEG whose metadata can be cut away without touching a pixel: upright, sRGB, nothing odd.
  var isClean: Bool
}

/// What becomes of a picture. Pure: facts and order in.
struct ImagePlan: Sendable, Hashable {
  enum Action: Sendable, Hashable {
    /// The source's own coded pixels, without its metadata.
    case pass
    case encode
  }

  enum Reason: Sendable, Hashable {
    case smallAndClean, notClean, tooManyBytes, tooManyPixels, cropped

    /// For a person.
    var sentence: String {
      switch self {
      case .smallAndClean: "Passed on without its metadata, as it is a small JPEG already."
      case .notClean: "Encoded, as only an upright JPEG in sRGB can be passed on."
      case .tooManyBytes: "Encoded, as it has more bytes than are passed on."
      case .tooManyPixels: "Encoded, as it is made smaller."
      case .cropped: "Encoded, as it is cut to a square."
      }
    }
  }

  var action: Action
  var reason: Reason
  /// Pixels: the side of the square box that the result has to fit, or to fill where it is cut.
  var boxSide: Int
  /// Of the result, give or take a pixel.
  var width: Int
  var height: Int
  /// As the report calls it.
  var rung: String
  /// A guess.
  var estimatedBytes: Int64

  /// Bytes up to which a JPEG is not encoded again: there is little to gain, and each time costs quality.
  static let passLimit: Int64 = 300 << 10

  init(_ facts: ImageFacts, job: ImageJob) {
    boxSide = Self.boxSide(long: max(facts.width, facts.height), short: min(facts.width, facts.height), job)
    if job.cropSquare {
      (width, height) = (boxSide, boxSide)
    } else {
      let size = PixelSize(facts.width, facts.height).scaled(toFit: boxSide)
      (width, height) = (size.width, size.height)
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
    rung = action == .pass ? "pass" : "\(job.longEdge)"
    let encoded = Self.estimate(PixelSize(width, height), quality: job.quality)
    estimatedBytes = action == .pass ? facts.size : reason == .tooManyBytes ? min(encoded, facts.size) : encoded
  }

  /// Whether the cleaned source may take the place of an encoded picture that came out larger.
  var sourceWillDo: Bool { reason == .tooManyBytes || reason == .smallAndClean }

  /// Bytes: a photo of JPEG quality 82 takes about one for seven pixels.
  static func estimate(_ size: PixelSize, quality: Int) -> Int64 {
    Int64(size.width * size.height) * Int64(quality) / 570
  }

  private static func boxSide(long: Int, short: Int, _ job: ImageJob) -> Int {
    if job.cropSquare { return min(job.longEdge, short) }
    // A long screenshot would become unreadable; up to 6 Mpx it keeps its pixels.
    if long > 3 * short, long * short <= 6_000_000, long <= 65_500 { return long }
    return min(job.longEdge, long)
  }
}
