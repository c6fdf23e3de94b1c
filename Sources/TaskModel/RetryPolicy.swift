/// How often and how long to try (docs/lifecycle.md). All settable.
public struct RetryPolicy: Sendable, Hashable {
  /// Immediate repeats of one resource in one attempt.
  public var resourceRetries = 2
  public var baseMs: Int64 = 2_000
  public var capMs: Int64 = 300_000
  public var attempts = 8
  /// A task that could not be sent for so long fails as `expired`.
  public var expireAfterMs: Int64 = 86_400_000
  /// How often to look whether the network is back.
  public var networkProbeMs: Int64 = 15_000

  /// Nobody can silence a sender for longer, whatever a server or a front end asks for: a day.
  public static let longestWishMs: Int64 = 86_400_000

  public init() {}

  public var backoff: Backoff { Backoff(baseMs: baseMs, capMs: capMs) }
}
