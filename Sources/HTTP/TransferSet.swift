import CCurl
import Platform

/// The transfers under way. Lives on the client's thread alone.
final class TransferSet {
  private let multi: UnsafeMutableRawPointer
  private var settings: HTTPClient.Settings
  private let pace: Pace
  private let sockets: SocketRegistry
  private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]

  init(multi: UnsafeMutableRawPointer, settings: HTTPClient.Settings, sockets: SocketRegistry) {
    self.multi = multi
    self.settings = settings
    self.sockets = sockets
    pace = Pace(rate: settings.bytesPerSecond)
  }

  func update(_ settings: HTTPClient.Settings) {
    self.settings = settings
    pace.setRate(settings.bytesPerSecond)
  }

  func start(_ exchange: Exchange, _ continuation: ResponseContinuation) {
    if exchange.canceled.isRaised { return continuation.resume(throwing: CancellationError()) }
    guard let transfer = Transfer(exchange, continuation, settings, sockets, pace, nowMs: SystemTime.monotonicMs())
    else {
      return continuation.resume(throwing: HTTPError(.outOfResources, "libcurl could not set up a transfer"))
    }
    transfers[transfer.easy] = transfer
    if transfer.isPaced { pace.sharers += 1 }
    tc_curl_multi_add_handle(multi, transfer.easy)
  }

  func cancel(_ exchange: Exchange) {
    guard let transfer = transfers.values.first(where: { $0.exchange === exchange }) else { return }
    end(transfer, .failure(CancellationError()))
  }

  /// Moves what can be moved.
  /// - Returns: milliseconds until the next look, where nothing happens before.
  func perform() -> Int64 {
    if pace.waitMs() == 0 { for transfer in transfers.values { transfer.goOn() } }
    var running: Int32 = 0
    tc_curl_multi_perform(multi, &running)
    var hasRestarted = false
    var left: Int32 = 0
    while let message = tc_curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
        let transfer = transfers[easy]
      else { continue }
      switch transfer.outcome(of: message.pointee.data.result) {
      case .success(.final(let response)): end(transfer, .success(response))
      case .success(.again):
        tc_curl_multi_remove_handle(multi, easy)
        tc_curl_multi_add_handle(multi, easy)
        hasRestarted = true
      case .failure(let error): end(transfer, .failure(error))
      }
    }
    return hasRestarted ? 0 : lookAtClocks()
  }

  private func lookAtClocks() -> Int64 {
    let now = SystemTime.monotonicMs()
    var waitMs = Int64(Int32.max)
    for transfer in Array(transfers.values) {
      switch transfer.look(nowMs: now) {
      case .lookAgain(let afterMs): waitMs = min(waitMs, max(1, afterMs))
      case .over(let error): end(transfer, .failure(error))
      }
    }
    if transfers.values.contains(where: \.isPaused) { waitMs = min(waitMs, max(1, pace.waitMs())) }
    return waitMs
  }

  /// The one place where a continuation is resumed after its start.
  private func end(_ transfer: Transfer, _ result: Result<HTTPResponse, any Error>) {
    guard transfers.removeValue(forKey: transfer.easy) != nil else { return }
    if transfer.isPaced { pace.sharers -= 1 }
    tc_curl_multi_remove_handle(multi, transfer.easy)
    if case .success = result { transfer.reportAllSent() }
    transfer.continuation.resume(with: result)
  }
}
