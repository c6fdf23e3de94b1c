import CCurl
import Platform
import Synchronization

/// An HTTP client on libcurl: one multi handle on one thread of its own, which sleeps while nothing is to do. Thread and
/// libcurl come to life with the first request, because a start that sends nothing should cost nothing.
///
/// HTTP/1.1 throughout: three uploads over one HTTP/2 connection would share one TCP window. Proxies come from the
/// environment (`http_proxy`, `https_proxy`, `no_proxy`), as for curl. Connections are kept and used again; where one
/// turns out dead before any byte of an answer came, libcurl sends the request again on a fresh one.
public final class HTTPClient: Sendable {
  public struct Settings: Sendable, Hashable {
    /// PEM file of the authorities to trust in place of the system's.
    public var caFile: String?
    public var userAgent = "taskcenter"
    public init(caFile: String? = nil) { self.caFile = caFile }
  }

  private let settings: Settings
  private let loop = Mutex<TransferLoop?>(nil)

  public init(_ settings: Settings = Settings()) { self.settings = settings }

  deinit { loop.withLock { $0?.stop() } }

  /// Sends one request and waits for the answer; redirects 307 and 308 are followed, three at most.
  /// - Parameter progress: told how many bytes of the body have left this machine, at most every 100 ms and once at the
  ///   end, on the client's thread: return quickly.
  /// - Throws: `HTTPError`, or `CancellationError` as soon as the Swift task is canceled.
  public func send(
    _ request: HTTPRequest, progress: (@Sendable (Int64) -> Void)? = nil
  ) async throws -> HTTPResponse {
    try request.check()
    let loop = try runningLoop()
    let exchange = Exchange(request: request, progress: progress)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { loop.start(exchange, continuation: $0) }
    } onCancel: {
      loop.cancel(exchange)
    }
  }

  private func runningLoop() throws -> TransferLoop {
    try loop.withLock { loop in
      if let loop { return loop }
      let new = try TransferLoop.launch(settings: settings)
      loop = new
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
