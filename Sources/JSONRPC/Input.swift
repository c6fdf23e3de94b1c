import Glibc
public import Platform

/// Reads a session's stream on a thread of its own, always: a reader that waits for the writer is how two pipes deadlock.
public enum Input {
  /// Calls `handler` for each piece, in order, on the reading thread; then `onEnd`, once.
  /// - Throws: `SystemError` where no thread can be started.
  public static func start(
    _ file: OpenFile, handler: @escaping @Sendable (MessageSplitter.Piece, Framing) -> Void,
    onEnd: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    try OwnThread.start(name: "tc-input") {
      var splitter = MessageSplitter()
      var buffer = [UInt8](repeating: 0, count: 64 << 10)
      while true {
        let count = buffer.withUnsafeMutableBytes { read(file.descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        for piece in splitter.feed(buffer[..<count]) { handler(piece, splitter.framing ?? .lines) }
      }
      if let piece = splitter.finish() { handler(piece, splitter.framing ?? .lines) }
      onEnd()
    }
  }
}
