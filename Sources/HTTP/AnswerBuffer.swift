/// The answer as it comes in.
struct AnswerBuffer {
  private(set) var headers: [HTTPHeader] = []
  private(set) var body: [UInt8] = []
  /// Bytes of any kind.
  private(set) var moved: Int64 = 0
  private(set) var isTooLarge = false

  /// One line of the head. A status line begins a new head: what a 100 Continue said is over.
  mutating func takeHeaderLine(_ bytes: UnsafeRawBufferPointer) {
    moved += Int64(bytes.count)
    let line = String(decoding: bytes, as: UTF8.self)
    if line.hasPrefix("HTTP/") {
      headers = []
      return
    }
    guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return }
    let value = line[line.index(after: colon)...].unicodeScalars
      .drop { $0.properties.isWhitespace }
      .reversed().drop { $0.properties.isWhitespace }.reversed()
    headers.append(HTTPHeader(String(line[..<colon]), String(String.UnicodeScalarView(value))))
  }

  /// Of a body that goes elsewhere.
  mutating func count(_ bytes: UnsafeRawBufferPointer) { moved += Int64(bytes.count) }

  /// - Returns: false where the body grows beyond `limit`.
  mutating func takeBody(_ bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
    moved += Int64(bytes.count)
    guard body.count + bytes.count <= limit else {
      isTooLarge = true
      return false
    }
    body.append(contentsOf: bytes)
    return true
  }

  func failure(limit: Int) -> HTTPError? {
    isTooLarge ? HTTPError(.responseTooLarge, "the answer is longer than \(limit) bytes") : nil
  }
}
