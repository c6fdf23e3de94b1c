/// Tells how much of a body has left this machine, now and then.
struct SentProgress {
  private static let intervalMs: Int64 = 100

  private let tell: (@Sendable (Int64) -> Void)?
  private var told: Int64 = 0
  private var toldMs: Int64

  init(_ tell: (@Sendable (Int64) -> Void)?, nowMs: Int64) {
    self.tell = tell
    toldMs = nowMs
  }

  /// - Returns: in how many milliseconds there may be more to tell; nil where nothing is under way.
  mutating func note(_ sent: Int64, nowMs: Int64) -> Int64? {
    guard let tell, sent > told else { return nil }
    if nowMs - toldMs >= Self.intervalMs {
      told = sent
      toldMs = nowMs
      tell(sent)
    }
    return Self.intervalMs
  }

  /// All of it is out.
  mutating func finish(_ sent: Int64) {
    guard sent > told else { return }
    told = sent
    tell?(sent)
  }
}
