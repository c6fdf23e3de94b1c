import CCurl
import Platform
import Synchronization

/// An HTTP client on libcurl: one multi handle on one thread of its own, which sleeps while nothing is to do. Thread and
/// libcurl come to life with the first request, because a start that sends nothing should cost nothing.
///
/// HTTP/1.1 throughout: three uploads over one HTTP/2 connection would share one TCP window. Proxies come from the
/// environment (`http_proxy`, `https_proxy`, `no_proxy`), as for curl. Connections are kept and used again; where one
/// turns out dead before any byte of an answer came, the request is sent again on a fresh one, once, unless it says that it is
/// not repeatable.
public final class HTTPClient: Sendable {
  public struct Settings: Sendable, Hashable {
    /// PEM file of the authorities to trust in place of the system's.
    public var caFile: String?
    /// For the files that all requests send together; 0: no limit. Bodies in memory are not slowed.
    public var bytesPerSecond: Int64
    /// No server can silence a sender for longer: what looks like a wish for a century is a mistake.
    public var longestHoldMs: Int64
    public init(caFile: String? = nil, bytesPerSecond: Int64 = 0, longestHoldMs: Int64 = .max) {
      self.caFile = caFile
      self.bytesPerSecond = bytesPerSecond
      self.longestHoldMs = longestHoldMs
    }
  }

  private struct State {
    var settings: Settings
    var loop: TransferLoop?
  }

  private let state: Mutex<State>
  private let holds = Mutex(HostHolds())

  public init(_ settings: Settings = Settings()) { state = Mutex(State(settings: settings)) }

  /// For requests from now on; the rate also for those under way.
  public func update(_ settings: Settings) {
    state.withLock { state in
      state.settings = settings
      state.loop?.update(settings)
    }
  }

  deinit { state.withLock { $0.loop?.stop() } }

  // MARK: Gentleness

  /// Leaves `origin` alone, as one asks by `Retry-After`: until then every request to it fails as `held`. `longestHoldMs` at
  /// most.
  public func hold(_ origin: String, forMs: Int64) {
    let ms = min(forMs, state.withLock { $0.settings.longestHoldMs })
    holds.withLock { $0.hold(origin, forMs: ms, nowMs: SystemTime.monotonicMs()) }
  }

  /// - Throws: `HTTPError` `held`.
  private func checkHold(_ request: HTTPRequest) throws(HTTPError) {
    guard let origin = request.origin,
      let restMs = holds.withLock({ $0.restMs(of: origin, nowMs: SystemTime.monotonicMs()) })
    else { return }
    throw HTTPError(.held, "\(request.host) has asked to be left alone", retryAfterMs: restMs, origin: origin)
  }

  private func noteHold(_ request: HTTPRequest, _ response: HTTPResponse) {
    guard HostHolds.isHold(status: response.status), let ms = response.retryAfterMs else { return }
    // Who was asked leads there again; who answered may be asked by others.
    for origin in Set([request.origin, response.origin].compactMap { $0 }) { hold(origin, forMs: ms) }
  }

  // MARK: Sending

  /// Sends one request and waits for the answer; redirects 307 and 308 are followed, `maximumRedirects` at most. An answer
  /// 413, 429 or 503 with `Retry-After` holds its host: requests to it fail as `held` until the time is over.
  /// - Parameter progress: told how many bytes of the body have left this machine, at most every 100 ms and once at the
  ///   end, on the client's thread: return quickly.
  /// - Throws: `HTTPError`, or `CancellationError` as soon as the Swift task is canceled.
  public func send(
    _ request: HTTPRequest, progress: (@Sendable (Int64) -> Void)? = nil
  ) async throws -> HTTPResponse {
    try request.check()
    try checkHold(request)
    let loop = try runningLoop()
    let exchange = Exchange(request: request, progress: progress)
    let response = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { loop.start(exchange, continuation: $0) }
    } onCancel: {
      loop.cancel(exchange)
    }
    noteHold(request, response)
    return response
  }

  private func runningLoop() throws -> TransferLoop {
    try state.withLock { state in
      if let loop = state.loop { return loop }
      let new = try TransferLoop.launch(settings: state.settings)
      state.loop = new
      return new
    }
  }
}

extension HTTPRequest {
  /// libcurl would pass a line break on, and with it a header that nobody asked for.
  /// - Throws: `HTTPError`.
  func check() throws(HTTPError) {
    guard let origin = Origin(url), origin.scheme == "http" || origin.scheme == "https" else {
      throw HTTPError(.badURL, "not an absolute http or https URL")
    }
    guard !url.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
      throw HTTPError(.badURL, "the URL for \(origin.host) holds spaces or control characters")
    }
    guard method.utf8.allSatisfy(\.isTokenByte), !method.isEmpty else {
      throw HTTPError(.badHeader, "the method is not a word")
    }
    for header in headers {
      guard !header.name.isEmpty, header.name.utf8.allSatisfy(\.isTokenByte) else {
        throw HTTPError(.badHeader, "a header name is not a word")
      }
      guard !header.value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else {
        throw HTTPError(.badHeader, "the value of header \(header.name) holds control characters")
      }
    }
  }
}

extension UInt8 {
  /// RFC 9110 section 5.6.2.
  fileprivate var isTokenByte: Bool {
    switch self {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(self)
    }
  }
}
