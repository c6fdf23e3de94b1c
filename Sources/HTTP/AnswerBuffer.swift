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
    if bytes.starts(with: "HTTP/".utf8) {
      headers = []
      return
    }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return }
    let rest = bytes[(colon + 1)...]
    let start = rest.firstIndex { !$0.isBlank } ?? rest.endIndex
    let end = rest.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? start
    headers.append(
      HTTPHeader(String(decoding: bytes[..<colon], as: UTF8.self), String(decoding: rest[start..<end], as: UTF8.self)))
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

extension UInt8 {
  /// Optional white space (RFC 9110 section 5.6.3) and the line's end.
  fileprivate var isBlank: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
