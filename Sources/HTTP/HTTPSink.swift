/// Takes the body of a successful answer piece by piece, in place of memory. Called on the client's thread, in order.
public protocol HTTPSink: Sendable {
  /// Told the head of a 2xx answer before its body; at most once per answer.
  /// - Throws: `HTTPError` to refuse the body, which ends the transfer with that error.
  func begin(_ head: HTTPResponse) throws(HTTPError)
  /// - Throws: `HTTPError`, which ends the transfer with that error.
  func take(_ bytes: UnsafeRawBufferPointer) throws(HTTPError)
}
