/// Notices that nothing moves. Pure: the counters and the time come in.
///
/// libcurl's own LOW_SPEED clock averages over 5 s and fires that much late. And what it counts as sent is what the
/// kernel took: on a slow link the last megabytes drain for long after the last read, so the watch also looks at how
/// many bytes the peer has not acknowledged yet.
struct StallWatch {
  enum Verdict: Equatable {
    case stalled
    case lookAgain(afterMs: Int64)
  }

  private let timeoutMs: Int64
  private var lastMoveMs: Int64
  private var moved: Int64 = 0
  private var queued: Int64 = 0

  init(timeoutMs: Int64, nowMs: Int64) {
    self.timeoutMs = timeoutMs
    lastMoveMs = nowMs
  }

  mutating func moved(nowMs: Int64) { lastMoveMs = nowMs }

  /// - Parameters:
  ///   - moved: bytes handed to or got from the connection so far, of both directions.
  ///   - queued: bytes sent and not acknowledged.
  mutating func look(moved: Int64, queued: Int64, nowMs: Int64) -> Verdict {
    if moved != self.moved || queued != self.queued {
      self.moved = moved
      self.queued = queued
      lastMoveMs = nowMs
    }
    let restMs = lastMoveMs + timeoutMs - nowMs
    if restMs <= 0 { return .stalled }
    // A queue that drains wakes nobody up, so it has to be sampled.
    return .lookAgain(afterMs: queued > 0 ? min(restMs, max(1, timeoutMs / 10)) : restMs)
  }
}
