/// When a transfer has taken too long. Pure: the counters and the time come in.
struct TransferDeadlines {
  enum Verdict {
    case over(HTTPError)
    case lookAgain(afterMs: Int64)
  }

  /// Stall time-outs that a whole answer may take: 5 minutes, unless set otherwise.
  private static let answerPatience: Int64 = 10

  private let request: HTTPRequest
  private let startedMs: Int64
  private var stall: StallWatch
  /// Looks at what goes out only: a server could answer one byte at a time for ever.
  private var answer: StallWatch

  init(_ request: HTTPRequest, nowMs: Int64) {
    self.request = request
    startedMs = nowMs
    stall = StallWatch(timeoutMs: request.stallTimeoutMs, nowMs: nowMs)
    answer = StallWatch(timeoutMs: Self.answerPatience * request.stallTimeoutMs, nowMs: nowMs)
  }

  mutating func moved(nowMs: Int64) {
    stall.moved(nowMs: nowMs)
    answer.moved(nowMs: nowMs)
  }

  /// - Parameters:
  ///   - sent: bytes that went out so far.
  ///   - received: bytes that came in.
  ///   - queued: bytes sent and not acknowledged.
  ///   - isConnected: until then libcurl's connect timeout is in charge.
  mutating func look(
    sent: Int64, received: Int64, queued: Int64, isConnected: Bool, nowMs: Int64
  ) -> Verdict {
    var waitMs = Int64.max
    if let limit = request.totalTimeoutMs {
      waitMs = startedMs + limit - nowMs
      if waitMs <= 0 { return .over(HTTPError(.timedOut, "no answer within \(limit) ms")) }
    }
    guard isConnected else { return .lookAgain(afterMs: waitMs) }
    switch stall.look(moved: sent + received, queued: queued, nowMs: nowMs) {
    case .stalled: return .over(HTTPError(.stalled, "no byte moved for \(request.stallTimeoutMs) ms"))
    case .lookAgain(let afterMs): waitMs = min(waitMs, afterMs)
    }
    // A download may take its time.
    guard request.sink == nil else { return .lookAgain(afterMs: waitMs) }
    switch answer.look(moved: sent, queued: queued, nowMs: nowMs) {
    case .stalled:
      return .over(HTTPError(.timedOut, "no whole answer in \(Self.answerPatience * request.stallTimeoutMs) ms"))
    case .lookAgain(let afterMs): return .lookAgain(afterMs: min(waitMs, afterMs))
    }
  }
}
