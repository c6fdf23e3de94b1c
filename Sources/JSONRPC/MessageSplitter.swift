/// Where one message ends and the next begins.
public enum Framing: Sendable, Hashable {
  /// One message a line.
  case lines
  /// `Content-Length` headers, as in the Language Server Protocol's base protocol.
  case headers
}

/// Bytes in, whole messages out, whatever the size of the pieces they come in. A value without I/O. The framing is found
/// from the first bytes and kept.
public struct MessageSplitter: Sendable {
  public enum Piece: Sendable, Hashable {
    case message([UInt8])
    /// A message over the limit was skipped; the next one is read as if nothing had been.
    case tooLong
    /// A header block that can't be understood; the stream can't be followed any further.
    case broken(String)
  }

  private enum State {
    case undecided
    case line
    case skippingLine
    case header
    case content(remaining: Int)
    case skipping(remaining: Int)
    case broken
  }

  /// Bytes of one message.
  public let limit: Int
  private var state = State.undecided
  private var buffer: [UInt8] = []
  /// How far `buffer` has been searched without finding an end.
  private var searched = 0

  static let headerLimit = 4_096

  public init(limit: Int = 16 << 20) { self.limit = limit }

  /// Nil before the first byte that tells.
  public var framing: Framing? {
    switch state {
    case .undecided: nil
    case .line, .skippingLine: .lines
    case .header, .content, .skipping, .broken: .headers
    }
  }

  /// Takes the next bytes of the stream.
  public mutating func feed(_ bytes: some Collection<UInt8>) -> [Piece] {
    buffer.append(contentsOf: bytes)
    var pieces: [Piece] = []
    while let piece = next() { if let message = piece { pieces.append(message) } }
    return pieces
  }

  /// At the end of the stream: a last line that has no newline is a message too.
  public mutating func finish() -> Piece? {
    defer { buffer = [] }
    guard case .line = state, !buffer.isEmpty else { return nil }
    return line(buffer[...])
  }

  /// One step. Nil: more bytes are needed; an inner nil: something was taken that is no message.
  private mutating func next() -> Piece?? {
    switch state {
    case .undecided: return decide()
    case .line, .skippingLine: return nextLine()
    case .header: return nextHeader()
    case .content(let remaining):
      guard buffer.count >= remaining else { return nil }
      let message = take(remaining)
      state = .header
      return .message(message)
    case .skipping(let remaining):
      guard !buffer.isEmpty else { return nil }
      let count = min(remaining, buffer.count)
      _ = take(count)
      guard count == remaining else {
        state = .skipping(remaining: remaining - count)
        return .some(nil)
      }
      state = .header
      return .tooLong
    case .broken:
      buffer = []
      return nil
    }
  }

  private mutating func decide() -> Piece?? {
    skipSpace()
    guard let first = buffer.first else { return nil }
    // A header begins with a letter; JSON text with '{' or '[' (and everything else is a line that is no JSON).
    state = first | 0x20 == UInt8(ascii: "c") ? .header : .line
    return .some(nil)
  }

  private mutating func nextLine() -> Piece?? {
    guard let end = buffer[searched...].firstIndex(of: 0x0A) else {
      searched = buffer.count
      if case .skippingLine = state {
        buffer = []
        searched = 0
      } else if buffer.count > limit {
        state = .skippingLine
        buffer = []
        searched = 0
        return .some(nil)
      }
      return nil
    }
    if case .skippingLine = state {
      _ = take(end + 1)
      state = .line
      return .tooLong
    }
    let message = line(buffer[..<end])
    _ = take(end + 1)
    return .some(message)
  }

  /// Nil for a blank line.
  private func line(_ bytes: ArraySlice<UInt8>) -> Piece? {
    guard bytes.contains(where: { !MessageSplitter.isSpace($0) }) else { return nil }
    return bytes.count > limit ? .tooLong : .message(Array(bytes))
  }

  private mutating func nextHeader() -> Piece?? {
    skipSpace()
    guard let end = MessageSplitter.endOfHeader(buffer) else {
      // An end within the limit would have been complete by now; so it does not matter in which pieces the bytes come.
      return buffer.count >= MessageSplitter.headerLimit + 3 ? fail("a header block without end") : nil
    }
    guard end.start <= MessageSplitter.headerLimit else { return fail("a header block without end") }
    let header = String(decoding: buffer[..<end.start], as: UTF8.self)
    _ = take(end.next)
    var length: Int?
    for field in header.split(whereSeparator: \.isNewline) {
      let parts = field.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { return fail("the header line \"\(field)\" has no colon") }
      guard parts[0].lowercased() == "content-length" else { continue }
      length = Int(parts[1].trimmingSpaces)
    }
    guard let length, length >= 0 else { return fail("a header block without a Content-Length") }
    state = length > limit ? .skipping(remaining: length) : .content(remaining: length)
    return .some(nil)
  }

  private mutating func fail(_ reason: String) -> Piece?? {
    state = .broken
    return .broken(reason)
  }

  private mutating func skipSpace() {
    buffer.removeSubrange(..<(buffer.firstIndex { !MessageSplitter.isSpace($0) } ?? buffer.endIndex))
  }

  private mutating func take(_ count: Int) -> [UInt8] {
    let taken = Array(buffer[..<count])
    buffer.removeFirst(count)
    searched = 0
    return taken
  }

  /// The empty line after the headers; a bare LF is taken as a line's end too.
  private static func endOfHeader(_ bytes: [UInt8]) -> (start: Int, next: Int)? {
    for index in bytes.indices where bytes[index] == 0x0A {
      if index + 1 < bytes.count, bytes[index + 1] == 0x0A { return (index, index + 2) }
      if index + 2 < bytes.count, bytes[index + 1] == 0x0D, bytes[index + 2] == 0x0A { return (index, index + 3) }
    }
    return nil
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
}

extension Substring {
  fileprivate var trimmingSpaces: Substring {
    var text = self
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}
