import CCurl
import Platform
import Synchronization

/// One call of `HTTPClient.send`, known by identity to both sides.
final class Exchange: Sendable {
  let request: HTTPRequest
  let progress: (@Sendable (Int64) -> Void)?
  let canceled = CancelFlag()

  init(request: HTTPRequest, progress: (@Sendable (Int64) -> Void)?) {
    self.request = request
    self.progress = progress
  }
}

typealias ResponseContinuation = CheckedContinuation<HTTPResponse, any Error>

/// The door to the client's thread: orders go into a mailbox and wake it. All else of libcurl happens on that thread.
final class TransferLoop: Sendable {
  private enum Order: Sendable {
    case start(Exchange, ResponseContinuation)
    case cancel(Exchange)
    case update(HTTPClient.Settings)
  }

  private struct Mailbox {
    var orders: [Order] = []
    var isStopping = false
  }

  private let mailbox = Mutex(Mailbox())
  private let multi: MultiHandle

  private init(multi: MultiHandle) { self.multi = multi }

  private static let globalInit: CURLcode = tc_curl_global_init()

  /// - Throws: `HTTPError` where the system has no memory or thread left.
  static func launch(settings: HTTPClient.Settings) throws(HTTPError) -> TransferLoop {
    guard globalInit == CURLE_OK, let multi = tc_curl_multi_init() else {
      throw HTTPError(.outOfResources, "libcurl could not be set up")
    }
    // Keep-alive connections beyond this many are closed, the oldest first.
    _ = tc_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 16)
    let loop = TransferLoop(multi: MultiHandle(raw: multi))
    do {
      try OwnThread.start(name: "http") { loop.run(settings) }
    } catch {
      tc_curl_multi_cleanup(multi)
      throw HTTPError(.outOfResources, "no thread for the network: \(error.reason)")
    }
    return loop
  }

  func start(_ exchange: Exchange, continuation: ResponseContinuation) { post(.start(exchange, continuation)) }

  /// A cancel that overtakes its start finds nobody to cancel; the start then sees the flag.
  func cancel(_ exchange: Exchange) {
    exchange.canceled.raise()
    post(.cancel(exchange))
  }

  func update(_ settings: HTTPClient.Settings) { post(.update(settings)) }

  /// Call last: nobody may post after it.
  func stop() {
    mailbox.withLock {
      $0.isStopping = true
      multi.wake()
    }
  }

  private func post(_ order: Order) {
    mailbox.withLock { $0.orders.append(order) }
    multi.wake()
  }

  // MARK: - On the thread

  private func run(_ settings: HTTPClient.Settings) {
    let sockets = SocketRegistry()
    let transfers = TransferSet(multi: multi.raw, settings: settings, sockets: sockets)
    while true {
      let (orders, isStopping) = mailbox.withLock { box in
        defer { box.orders.removeAll(keepingCapacity: true) }
        return (box.orders, box.isStopping)
      }
      for order in orders {
        switch order {
        case .start(let exchange, let continuation): transfers.start(exchange, continuation)
        case .cancel(let exchange): transfers.cancel(exchange)
        case .update(let settings): transfers.update(settings)
        }
      }
      // Whoever waits for an answer keeps the client alive, so nothing can be under way here.
      if isStopping { break }
      let waitMs = transfers.perform()
      tc_curl_multi_poll(multi.raw, nil, 0, Int32(clamping: waitMs), nil)
    }
    // Closes the kept connections, which the registry has to hear of.
    withExtendedLifetime(sockets) { _ = tc_curl_multi_cleanup(multi.raw) }
  }
}

/// libcurl's multi handle. Sendable because other threads only call `wake`, which libcurl documents as safe from any
/// thread; the loop frees it after `stop`, which is called within the lock and after which nobody posts.
private struct MultiHandle: @unchecked Sendable {
  let raw: UnsafeMutableRawPointer
  func wake() { tc_curl_multi_wakeup(raw) }
}
