/// The wait before the next attempt: `min(cap, base · 2^(n−1)) · jitter`, jitter 0.5 to 1 from the caller, so that many
/// clients do not come back in one burst.
///
/// | failed attempts | base 2 s, cap 300 s, jitter 1 |
/// |---|---|
/// | 1 | 2 s |
/// | 2 | 4 s |
/// | 3 | 8 s |
/// | 4 | 16 s |
/// | 7 | 128 s |
/// | 8 | 256 s |
/// | 9 and more | 300 s |
public struct Backoff: Sendable, Hashable {
  public let baseMs: Int64
  public let capMs: Int64

  public init(baseMs: Int64, capMs: Int64) {
    self.baseMs = baseMs
    self.capMs = capMs
  }

  public static let jitterRange = 0.5...1.0

  /// - Parameters:
  ///   - failedAttempts: 1 or more.
  ///   - jitter: drawn from `jitterRange`.
  /// - Returns: milliseconds.
  public func delayMs(afterFailedAttempts failedAttempts: Int, jitter: Double) -> Int64 {
    // Capped before the conversion: 2^62 doublings would not fit.
    let exponent = min(max(failedAttempts - 1, 0), 40)
    let nominal = min(Double(capMs), Double(baseMs) * Double(Int64(1) << Int64(exponent)))
    return Int64(nominal * jitter)
  }
}
