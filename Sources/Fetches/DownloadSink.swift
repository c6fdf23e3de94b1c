import Glibc
import HTTP
import Platform
import Synchronization
import TaskModel

/// Writes what comes in to the partial file, as far as it belongs to the version that is there.
final class DownloadSink: HTTPSink {
  private struct State {
    var size: Int64
    var expected: Int64?
    var failure: Failure?
    var wantsToStartOver = false
  }

  private let part: PartialFile
  private let start: PartialFile.Start
  private let maxBytes: Int64
  private let state: Mutex<State>

  init(_ part: PartialFile, _ start: PartialFile.Start, maxBytes: Int64) {
    self.part = part
    self.start = start
    self.maxBytes = maxBytes
    state = Mutex(State(size: start.size))
  }

  /// Why it ended the transfer, if it did.
  var failure: Failure? { state.withLock { $0.failure } }
  var wantsToStartOver: Bool { state.withLock { $0.wantsToStartOver } }

  func begin(_ head: HTTPResponse) throws(HTTPError) {
    switch DownloadHead.judge(head, have: start.size, tag: start.tag, maxBytes: maxBytes) {
    case .append(let total):
      try attempt { () throws(SystemError) in
        _ = try systemCall("lseek") { lseek(start.file.descriptor, 0, SEEK_END) }
      }
      state.withLock { $0.expected = total }
    case .beginAnew(let total, let tag):
      try attempt { () throws(SystemError) in try part.restart(start.file, tag: tag) }
      state.withLock { state in
        state.size = 0
        state.expected = total
      }
    case .startOver:
      state.withLock { $0.wantsToStartOver = true }
      throw refusal
    case .refuse(let failure): throw refused(failure)
    }
  }

  func take(_ bytes: UnsafeRawBufferPointer) throws(HTTPError) {
    let isTooLarge = state.withLock { state in
      state.size += Int64(bytes.count)
      return state.size > maxBytes
    }
    if isTooLarge { throw refused(DownloadHead.tooLarge(maxBytes)) }
    try attempt { () throws(SystemError) in try start.file.write(bytes) }
  }

  /// A server that says less than it promised, without closing too early.
  func checkWhole() throws(Failure) {
    let (size, expected) = state.withLock { ($0.size, $0.expected) }
    guard let expected, expected != size else { return }
    part.remove()
    throw Failure(.badAnswer, "\(size) bytes came of \(expected)", remedy: .retry)
  }

  private func attempt(_ body: () throws(SystemError) -> Void) throws(HTTPError) {
    do { try body() } catch { throw refused(KeepingFailure.of(error)) }
  }

  private func refused(_ failure: Failure) -> HTTPError {
    state.withLock { $0.failure = failure }
    return refusal
  }

  private var refusal: HTTPError { HTTPError(.sinkFailed, "the download was refused") }
}
