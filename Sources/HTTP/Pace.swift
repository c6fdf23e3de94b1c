import Platform

/// The rate limit that all transfers of a client share. Lives on the client's thread alone.
final class Pace {
  private var bucket: TokenBucket
  /// Transfers whose bodies count.
  var sharers = 0

  init(rate: Int64) { bucket = TokenBucket(rate: rate, nowMs: SystemTime.monotonicMs()) }

  func setRate(_ rate: Int64) { bucket.setRate(rate, nowMs: SystemTime.monotonicMs()) }

  /// - Returns: how many of `wanted` bytes one transfer may send now; 0: it has to pause.
  func grant(_ wanted: Int) -> Int {
    guard bucket.isLimited else { return wanted }
    let available = bucket.available(nowMs: SystemTime.monotonicMs())
    guard available >= TokenBucket.quantum else { return 0 }
    // An equal share, so that the first one to ask does not take it all.
    return min(wanted, Int(max(TokenBucket.quantum, available / Int64(max(1, sharers)))))
  }

  func spend(_ count: Int) { bucket.spend(count) }

  /// Milliseconds until paused transfers may go on; 0: now.
  func waitMs() -> Int64 {
    bucket.available(nowMs: SystemTime.monotonicMs()) >= TokenBucket.quantum ? 0 : bucket.waitMs()
  }
}
