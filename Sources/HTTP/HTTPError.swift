/// Why there is no answer.
public struct HTTPError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A fixed set of words, free of data: fit for logs and counters.
  public enum Code: String, Sendable, CaseIterable {
    case couldNotResolve, couldNotConnect, connectTimedOut
    /// No byte moved for the stall timeout.
    case stalled
    /// The total timeout is over.
    case timedOut
    /// The connection ended before the answer did.
    case connectionLost
    /// TLS could not be set up, as when the connection is lost meanwhile; may go better next time.
    case tlsHandshake
    /// The server's certificate, or our list of authorities, is not in order.
    case tlsUntrusted
    /// The body's file ended early, or can't be read.
    case fileShrank, fileUnreadable
    case tooManyRedirects
    /// To another scheme than http and https, or from https down to http.
    case badRedirect
    case badURL, badHeader
    case badResponse, responseTooLarge
    /// The host has asked to be left alone for a while; nothing was sent.
    case held
    /// What takes the answer's body has refused it.
    case sinkFailed
    case outOfResources
  }

  public let code: Code
  /// A sentence for a person; names the host at most.
  public let message: String
  /// Whether the server can have seen the request: it had a connection and bytes of it went out.
  public let requestMayHaveArrived: Bool
  /// It went out on a connection that was kept from an earlier request, and that ended at its beginning, before any byte of
  /// an answer. As a rule the server had closed it; there is no need to wait before it is asked on a fresh one.
  public let keptConnectionDied: Bool
  /// Of `held`: how long still, in milliseconds.
  public let retryAfterMs: Int64?
  /// Of `held`: who has asked for it.
  public let origin: String?

  public init(
    _ code: Code, _ message: String, requestMayHaveArrived: Bool = false, keptConnectionDied: Bool = false,
    retryAfterMs: Int64? = nil, origin: String? = nil
  ) {
    self.code = code
    self.message = message
    self.requestMayHaveArrived = requestMayHaveArrived
    self.keptConnectionDied = keptConnectionDied
    self.retryAfterMs = retryAfterMs
    self.origin = origin
  }

  /// There was no way to the server at all.
  public var isOffline: Bool {
    switch code {
    case .couldNotResolve, .couldNotConnect, .connectTimedOut: true
    default: false
    }
  }

  public var description: String { "\(code.rawValue): \(message)" }
}
