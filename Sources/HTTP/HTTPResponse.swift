/// The final answer. Any status is an answer, not an error.
public struct HTTPResponse: Sendable {
  public let status: Int
  public let headers: [HTTPHeader]
  public let body: [UInt8]
  /// `Retry-After`, given in seconds or as a date, in milliseconds from now.
  public let retryAfterMs: Int64?
  /// Scheme, host and port of who answered, after redirects; nil where nobody did.
  public let origin: String?

  public init(
    status: Int, headers: [HTTPHeader] = [], body: [UInt8] = [], retryAfterMs: Int64? = nil, origin: String? = nil
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.retryAfterMs = retryAfterMs
    self.origin = origin
  }

  public var isSuccess: Bool { (200..<300).contains(status) }

  /// The first field of this name, in any case.
  public func header(_ name: String) -> String? {
    let wanted = name.lowercased()
    return headers.first { $0.name.lowercased() == wanted }?.value
  }

  /// The first field of this name, where it is an integer.
  public func int(_ name: String) -> Int64? { header(name).flatMap { Int64($0) } }
}
