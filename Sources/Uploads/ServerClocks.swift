import HTTP
import Synchronization

/// How far the clocks of servers are ahead of ours, as their answers tell. A signature is good for a quarter of an hour
/// only, and the clock that counts is the server's.
final class ServerClocks: Sendable {
  private let ahead = Mutex<[String: Int64]>([:])

  /// Milliseconds by which the clock of `host` is ahead, as far as known.
  func ahead(_ host: String) -> Int64 { ahead.withLock { $0[host] ?? 0 } }

  /// - Parameter now: by our clock, milliseconds since 1970.
  /// - Returns: whether the answer tells the server's time.
  func learn(from response: HTTPResponse, of host: String, now: Int64) -> Bool {
    guard let time = Self.time(response) else { return false }
    ahead.withLock { $0[host] = time - now }
    return true
  }

  /// The server's time, milliseconds since 1970.
  static func time(_ response: HTTPResponse) -> Int64? {
    response.header("Date").flatMap { UTCTime.milliseconds(ofHTTPDate: $0) }
  }
}
