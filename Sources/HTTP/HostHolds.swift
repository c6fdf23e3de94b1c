/// Which hosts have asked to be left alone (`Retry-After`, RFC 9110 section 10.2.3), and until when. Pure: the time comes
/// in, and it is that of a clock that never jumps.
struct HostHolds {
  private var untilMs: [String: Int64] = [:]

  /// The later of two wishes counts.
  mutating func hold(_ origin: String, forMs: Int64, nowMs: Int64) {
    guard forMs > 0 else { return }
    untilMs[origin] = max(untilMs[origin] ?? 0, nowMs + forMs)
  }

  /// How long `origin` is still to be left alone; nil where it may be asked.
  mutating func restMs(of origin: String, nowMs: Int64) -> Int64? {
    guard let until = untilMs[origin] else { return nil }
    guard until > nowMs else {
      untilMs[origin] = nil
      return nil
    }
    return until - nowMs
  }

  /// Whether an answer speaks for the whole host. Other answers with `Retry-After` (423 Locked, 202) are about one
  /// resource.
  static func isHold(status: Int) -> Bool { status == 413 || status == 429 || status == 503 }
}
