public import Platform

/// One field of a request or an answer. Values may hold secrets: never log them.
public struct HTTPHeader: Sendable, Hashable {
  public var name: String
  public var value: String
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// One request, as a value.
public struct HTTPRequest: Sendable {
  public var method: String
  /// Absolute, http or https, encoded: it goes out as it stands.
  public var url: String
  /// In this order. `Authorization` and `Cookie` do not follow a redirect to another host.
  public var headers: [HTTPHeader]
  public var body: HTTPBody
  /// No byte moved in either direction for so long, once connected: `stalled`. An answer that trickles in may take ten times
  /// as long from the body's last byte on: then `timedOut`.
  public var stallTimeoutMs: Int64 = 30_000
  /// For name lookup, connect and TLS handshake together.
  public var connectTimeoutMs: Int64 = 10_000
  /// For everything; nil: no limit.
  public var totalTimeoutMs: Int64?
  /// A longer answer is `responseTooLarge`, or empty where its status says enough (300 and above); does not count for a sink.
  public var maxResponseBytes = 1 << 20
  public var maximumRedirects = 3
  /// Whether the body may be sent again unasked where a kept connection dies under it. Not where the server keeps a part of
  /// it and has to be asked first.
  public var isRepeatable = true
  /// Takes the body of a 2xx answer. With it 301, 302 and 303 are followed too, as a download may.
  public var sink: (any HTTPSink)?

  public init(_ method: String, url: String, headers: [HTTPHeader] = [], body: HTTPBody = .none) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }
}

extension HTTPRequest {
  /// The only part of the URL that a message may hold.
  public var host: String { Origin(url)?.host ?? "the server" }
  /// Scheme, host and port.
  public var origin: String? { Origin(url)?.text }
}

public enum HTTPBody: Sendable {
  case none
  case data([UInt8])
  case file(FileBody)
  /// A file between bytes, as in a form.
  case framed([UInt8], FileBody, [UInt8])

  /// Bytes.
  public var count: Int64 {
    switch self {
    case .none: 0
    case .data(let bytes): Int64(bytes.count)
    case .file(let file): file.length
    case .framed(let head, let file, let tail): Int64(head.count) + file.length + Int64(tail.count)
    }
  }
}

/// A range of an open file, read while it goes out, so that memory holds one buffer of it at most.
public struct FileBody: Sendable {
  public let file: OpenFile
  /// Bytes from the start of the file.
  public let offset: Int64
  public let length: Int64

  public init(_ file: OpenFile, offset: Int64 = 0, length: Int64) {
    self.file = file
    self.offset = offset
    self.length = length
  }
}
