/// How many bytes may go out now so that no more than `rate` go out in a second, however many connections there are.
/// Pure: the time comes in.
struct TokenBucket {
  /// Less than this is not worth a packet.
  static let quantum: Int64 = 1_024

  /// Bytes per second; 0: no limit.
  private(set) var rate: Int64
  private var tokens: Double = 0
  private var lastMs: Int64

  init(rate: Int64, nowMs: Int64) {
    self.rate = max(0, rate)
    lastMs = nowMs
  }

  var isLimited: Bool { rate > 0 }

  /// A tenth of a second's worth: after a pause nothing bursts out.
  private var capacity: Double { Double(max(rate / 10, Self.quantum)) }

  mutating func setRate(_ rate: Int64, nowMs: Int64) {
    refill(nowMs: nowMs)
    self.rate = max(0, rate)
    tokens = min(tokens, capacity)
  }

  /// Bytes that may go out at this moment.
  mutating func available(nowMs: Int64) -> Int64 {
    guard isLimited else { return .max }
    refill(nowMs: nowMs)
    return Int64(tokens)
  }

  mutating func spend(_ count: Int) {
    if isLimited { tokens -= Double(count) }
  }

  /// Milliseconds until a quantum may go out.
  func waitMs() -> Int64 {
    let missing = Double(Self.quantum) - tokens
    guard isLimited, missing > 0 else { return 0 }
    return max(1, Int64((missing * 1_000 / Double(rate)).rounded(.up)))
  }

  private mutating func refill(nowMs: Int64) {
    tokens = min(capacity, tokens + Double(rate) * Double(max(0, nowMs - lastMs)) / 1_000)
    lastMs = nowMs
  }
}
