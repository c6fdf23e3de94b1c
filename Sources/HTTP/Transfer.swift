import CCurl
import Platform

/// One request on its way: libcurl's easy handle, the answer so far, and its clocks. Lives on the client's thread alone.
final class Transfer {
  enum Outcome {
    case final(HTTPResponse)
    /// The handle is set up for the new place, or for a fresh connection, and wants to be added again.
    case again
  }

  let exchange: Exchange
  let continuation: ResponseContinuation
  let easy: UnsafeMutableRawPointer
  let body: BodyReader
  var answer = AnswerBuffer()
  private var headerList: UnsafeMutablePointer<curl_slist>?
  private var url: String
  private var redirects = 0
  /// Once only, so that no server can have it sent for ever.
  private var hasRepeated = false
  private var deadlines: TransferDeadlines
  private var progress: SentProgress
  /// The connection stands and the request's head goes out.
  private var hasConnected = false
  private let sockets: SocketRegistry
  private let pace: Pace
  /// The rate limit holds the body back.
  private(set) var isPaused = false
  private var socket: curl_socket_t?
  private var sinkFailure: HTTPError?
  private var sinkHasBegun = false

  private var request: HTTPRequest { exchange.request }

  init?(
    _ exchange: Exchange, _ continuation: ResponseContinuation, _ settings: HTTPClient.Settings,
    _ sockets: SocketRegistry, _ pace: Pace, nowMs: Int64
  ) {
    guard let easy = tc_curl_easy_init() else { return nil }
    self.exchange = exchange
    self.continuation = continuation
    self.easy = easy
    url = exchange.request.url
    body = BodyReader(exchange.request.body)
    deadlines = TransferDeadlines(exchange.request, nowMs: nowMs)
    progress = SentProgress(exchange.progress, nowMs: nowMs)
    self.sockets = sockets
    self.pace = pace
    EasyOptions.apply(settings, request, to: easy)
    sockets.install(on: easy)
    TransferCallbacks.install(for: self)
    aim(at: url, withSecrets: true)
  }

  deinit {
    tc_curl_easy_cleanup(easy)
    tc_curl_slist_free_all(headerList)
  }

  private func aim(at url: String, withSecrets: Bool) {
    self.url = url
    tc_curl_slist_free_all(headerList)
    headerList = EasyOptions.headerList(request.headers, withSecrets: withSecrets)
    _ = tc_curl_set_string(easy, CURLOPT_URL, url)
    _ = tc_curl_set_list(easy, CURLOPT_HTTPHEADER, headerList)
  }

  func didConnect(localPort: Int32, remotePort: Int32) {
    hasConnected = true
    socket = sockets.socket(localPort: localPort, remotePort: remotePort)
    deadlines.moved(nowMs: SystemTime.monotonicMs())
  }

  // MARK: - The body, in both directions

  /// Whether the rate limit counts for it: what is in memory is no media.
  var isPaced: Bool {
    switch request.body {
    case .none, .data: false
    default: true
    }
  }

  /// - Returns: nil where the rate limit wants a pause.
  func readBody(into target: UnsafeMutableRawBufferPointer) -> BodyReader.Piece? {
    guard isPaced, body.handed < request.body.count else { return body.read(into: target) }
    let granted = pace.grant(target.count)
    guard granted > 0 else {
      isPaused = true
      return nil
    }
    let piece = body.read(into: UnsafeMutableRawBufferPointer(rebasing: target[..<granted]))
    if case .bytes(let count) = piece { pace.spend(count) }
    return piece
  }

  /// - Returns: false where it can't be, or must not.
  func seekBody(to offset: Int64) -> Bool { request.isRepeatable && body.seek(to: offset) }

  /// After a pause.
  func goOn() {
    guard isPaused else { return }
    isPaused = false
    tc_curl_easy_unpause(easy)
  }

  /// - Returns: false where the transfer is to end.
  func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    do throws(HTTPError) {
      guard try beginSink(), let sink = request.sink else {
        return answer.takeBody(bytes, limit: request.maxResponseBytes)
      }
      answer.count(bytes)
      try sink.take(bytes)
      return true
    } catch {
      sinkFailure = error
      return false
    }
  }

  /// - Returns: whether the sink takes this answer's body.
  private func beginSink() throws(HTTPError) -> Bool {
    let status = status
    guard let sink = request.sink, (200..<300).contains(status) else { return false }
    if !sinkHasBegun {
      sinkHasBegun = true
      try sink.begin(HTTPResponse(status: status, headers: answer.headers, origin: Origin(url)?.text))
    }
    return true
  }

  private var status: Int {
    var status = 0
    _ = tc_curl_info_long(easy, CURLINFO_RESPONSE_CODE, &status)
    return status
  }

  // MARK: - The end

  func outcome(of code: CURLcode) -> Result<Outcome, HTTPError> {
    // Our own callbacks ended it: they know better than libcurl why.
    let status = status
    // The page that a gateway explains itself with is of no interest, its status is.
    let isCutShort = answer.isTooLarge && status >= 300
    if let error = sinkFailure ?? body.failure ?? (isCutShort ? nil : answer.failure(limit: request.maxResponseBytes)) {
      return .failure(named(error))
    }
    guard code == CURLE_OK || isCutShort else { return failed(code) }
    if isRedirect(status), let location = EasyInfo.redirectURL(easy) {
      return Result { () throws(HTTPError) in try follow(to: location) }.map { .again }
    }
    do throws(HTTPError) { _ = try beginSink() } catch { return .failure(named(error)) }
    let response = HTTPResponse(
      status: status, headers: answer.headers, body: isCutShort ? [] : answer.body,
      retryAfterMs: RetryAfter.milliseconds(answer.headers, wallMs: SystemTime.wallMs()), origin: Origin(url)?.text)
    return .success(.final(response))
  }

  private func failed(_ code: CURLcode) -> Result<Outcome, HTTPError> {
    let wasKept = answer.moved == 0 && EasyInfo.keptConnectionDied(easy, code)
    if wasKept, request.isRepeatable, !hasRepeated {
      hasRepeated = true
      EasyOptions.useFreshConnection(easy)
      startOver()
      return .success(.again)
    }
    let diedEarly = wasKept && body.handed <= Self.earlyBytes
    return .failure(CurlFailure.error(code, host: host, hasConnected: hasConnected, keptConnectionDied: diedEarly))
  }

  /// What libcurl reads and the kernel takes before the news of a closed connection comes. Later it is the line that broke,
  /// and the server may still be at what it got.
  private static let earlyBytes: Int64 = 1 << 20

  private func isRedirect(_ status: Int) -> Bool {
    switch status {
    case 307, 308: true
    case 301, 302, 303: request.sink != nil
    default: false
    }
  }

  private func follow(to location: String) throws(HTTPError) {
    redirects += 1
    guard redirects <= request.maximumRedirects else {
      throw named(HTTPError(.tooManyRedirects, "more than \(request.maximumRedirects) redirects"))
    }
    guard let old = Origin(url), let new = Origin(location), new.scheme == "https" || new.scheme == "http",
      !(old.scheme == "https" && new.scheme == "http")
    else { throw named(HTTPError(.badRedirect, "redirected to a place that is not allowed")) }
    startOver()
    // Once dropped the secrets stay dropped, also on the way back: compared with the first request.
    aim(at: location, withSecrets: Origin(request.url) == new)
  }

  private func startOver() {
    body.rewind()
    answer = AnswerBuffer()
    hasConnected = false
    isPaused = false
    socket = nil
    deadlines.moved(nowMs: SystemTime.monotonicMs())
  }

  private var host: String { Origin(url)?.host ?? "the server" }

  private func named(_ error: HTTPError) -> HTTPError {
    HTTPError(error.code, "\(host): \(error.message)", requestMayHaveArrived: hasConnected || redirects > 0)
  }

  // MARK: - Clocks and progress

  /// Whether it has taken too long, and what there is to tell.
  func look(nowMs: Int64) -> TransferDeadlines.Verdict {
    // It is we who hold it back.
    if isPaused { deadlines.moved(nowMs: nowMs) }
    let queued = socket.map(SocketRegistry.unacknowledgedBytes) ?? 0
    let verdict = deadlines.look(
      sent: body.moved, received: answer.moved, queued: queued, isConnected: hasConnected, nowMs: nowMs)
    switch verdict {
    case .over(let error): return .over(named(error))
    case .lookAgain(let waitMs):
      guard hasConnected, let next = progress.note(max(0, body.handed - queued), nowMs: nowMs) else { return verdict }
      return .lookAgain(afterMs: min(waitMs, next))
    }
  }

  func reportAllSent() {
    if body.handed == request.body.count { progress.finish(body.handed) }
  }
}
