import Dispatch
import Glibc
public import JSON
public import Platform
import Synchronization

/// The only writer of a session's stream. Whole messages go out in the order of `send`, and `send` never blocks: what the
/// reader at the other end does not take waits in memory, up to a limit, past which the stream is dropped.
///
/// The usual message is written at once by whoever sends it, because a hop to another thread costs more than the whole
/// rest of a small request (measured: about 15 µs of 30). For a pipe, poll(2) saying "writable" promises room for
/// PIPE_BUF bytes (pipe(7)), so pieces of that size do not block, and the descriptor need not be made non-blocking, which
/// would be felt by everybody who shares it.
public final class Output: Sendable {
  private struct State {
    var backlog: [[UInt8]] = []
    var backlogBytes = 0
    var isDraining = false
    var isClosed = false
    var framing = Framing.lines
    var whenDrained: [@Sendable () -> Void] = []
  }

  private let file: OpenFile
  private let limit: Int
  private let onLoss: @Sendable () -> Void
  private let state = Mutex(State())
  private let queue: DispatchQueue

  private static let pieceSize = Int(PIPE_BUF)

  /// - Parameters:
  ///   - limit: bytes that may lie unread.
  ///   - onLoss: the other end is gone, or has not read for too long; called once, from any thread.
  public init(_ file: OpenFile, limit: Int = 64 << 20, onLoss: @escaping @Sendable () -> Void) {
    self.file = file
    self.limit = limit
    self.onLoss = onLoss
    queue = DispatchQueue(label: "taskcenter.output")
  }

  public func setFraming(_ framing: Framing) { state.withLock { $0.framing = framing } }

  public func send(_ message: Message) { send(json: message.json) }

  public func send(json: JSONValue) { send(text: JSONWriter.bytes(json)) }

  /// Sends one message that is JSON text already.
  public func send(text: [UInt8]) {
    let outcome = state.withLock { state -> Outcome in
      guard !state.isClosed else { return .nothing }
      var bytes: [UInt8]
      switch state.framing {
      case .lines: bytes = text + [0x0A]
      case .headers: bytes = Array("Content-Length: \(text.count)\r\n\r\n".utf8) + text
      }
      if state.backlog.isEmpty, !state.isDraining {
        guard let written = writeWhatFits(bytes) else {
          state.isClosed = true
          return .lost
        }
        if written == bytes.count { return .nothing }
        bytes.removeFirst(written)
      }
      state.backlogBytes += bytes.count
      guard state.backlogBytes <= limit else {
        state.isClosed = true
        state.backlog = []
        return .lost
      }
      state.backlog.append(bytes)
      defer { state.isDraining = true }
      return state.isDraining ? .nothing : .drain
    }
    switch outcome {
    case .nothing: break
    case .drain: queue.async { [self] in drain() }
    case .lost: lose()
    }
  }

  private enum Outcome { case nothing, drain, lost }

  /// Calls back when everything sent so far is out, or the stream is lost.
  public func whenDrained(_ callback: @escaping @Sendable () -> Void) {
    let isNow = state.withLock { state in
      if state.isClosed || (state.backlog.isEmpty && !state.isDraining) { return true }
      state.whenDrained.append(callback)
      return false
    }
    if isNow { callback() }
  }

  /// Nothing goes out any more; what waits is forgotten.
  public func close() {
    let callbacks = state.withLock { state in
      state.isClosed = true
      state.backlog = []
      defer { state.whenDrained = [] }
      return state.whenDrained
    }
    for callback in callbacks { callback() }
  }

  private func lose() {
    close()
    onLoss()
  }

  /// - Returns: how many bytes could be written without waiting; nil where nobody will read them.
  private func writeWhatFits(_ bytes: [UInt8]) -> Int? {
    bytes.withUnsafeBytes { buffer in
      var written = 0
      while written < buffer.count {
        switch isWritable(timeoutMs: 0) {
        case nil: return nil
        case false?: return written
        case true?:
          guard let count = writeOnce(UnsafeRawBufferPointer(rebasing: buffer[written...])) else { return nil }
          written += count
        }
      }
      return written
    }
  }

  private func isWritable(timeoutMs: Int32) -> Bool? {
    var request = pollfd(fd: file.descriptor, events: Int16(POLLOUT), revents: 0)
    let count = poll(&request, 1, timeoutMs)
    if count < 0 { return errno == EINTR ? false : nil }
    if count == 0 { return false }
    return request.revents & Int16(POLLOUT) != 0 ? true : nil
  }

  private func writeOnce(_ buffer: UnsafeRawBufferPointer) -> Int? {
    let count = write(file.descriptor, buffer.baseAddress, min(buffer.count, Output.pieceSize))
    if count >= 0 { return count }
    return errno == EINTR || errno == EAGAIN ? 0 : nil
  }

  /// On the queue: writes the backlog, waiting for the reader as long as it takes.
  private func drain() {
    while true {
      let next = state.withLock { state -> [UInt8]? in
        guard !state.backlog.isEmpty, !state.isClosed else {
          state.isDraining = false
          return nil
        }
        return state.backlog.removeFirst()
      }
      guard let next else { break }
      var rest = next[...]
      while !rest.isEmpty {
        guard !state.withLock({ $0.isClosed }) else { break }
        let writable = isWritable(timeoutMs: 1_000)
        let count = writable == true ? rest.withUnsafeBytes { writeOnce($0) } : 0
        guard writable != nil, let count else { return lose() }
        rest = rest.dropFirst(count)
        state.withLock { $0.backlogBytes -= count }
      }
    }
    let callbacks = state.withLock { state in
      defer { state.whenDrained = [] }
      return state.whenDrained
    }
    for callback in callbacks { callback() }
  }
}
