import Dispatch
import Glibc
import Platform
import Synchronization

/// Finding an engine. As every front end does, this starts `taskcenterd`; where another engine owns the store already (exit
/// status 75), it goes through that one's door, the Unix socket in the store's folder.
///
/// The engine is started with `--linger` in a session of its own: it goes on when this program has ended, and Ctrl-C or a
/// closed terminal do not reach it.
struct EngineLaunch: Sendable {
  var store: String?
  var config: String?

  /// How long two engines may take to hand the store over.
  private static let patienceMs: Int64 = 10_000
  /// How long a start may take: a store that was cut off is recovered first.
  private static let answerMs = 30_000

  /// - Throws: `Stop` where there is none to be had, with the engine's own reason and exit status.
  func connect() throws(Stop) -> EngineConnection {
    let deadline = SystemTime.monotonicMs() + EngineLaunch.patienceMs
    while true {
      let engine = try start()
      switch engine.connection.isAnswered(timeoutMs: EngineLaunch.answerMs) {
      case .answered: return engine.connection
      case .silent: throw EngineLaunch.silent
      case .gone: break
      }
      let end = engine.end()
      guard end.status == Exit.tryAgain else { throw EngineLaunch.stop(after: end.status, saying: end.text) }
      if let running = try knock() { return running }
      // That engine is just starting, or just ending.
      guard SystemTime.monotonicMs() < deadline else {
        throw EngineLaunch.stop(after: end.status, saying: end.text)
      }
      usleep(200_000)
    }
  }

  // MARK: An engine of our own

  private struct Started {
    let connection: EngineConnection
    let process: Int32
    let errors: ErrorText

    /// Call when the stream has ended.
    /// - Returns: the exit status, nil for a signal's; and what it said.
    func end() -> (status: Int32?, text: String) {
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0 { if errno != EINTR { return (nil, errors.text()) } }
      return (status & 0x7F == 0 ? (status >> 8) & 0xFF : nil, errors.text())
    }
  }

  private func start() throws(Stop) -> Started {
    var arguments = ["taskcenterd", "--linger"]
    if let store { arguments += ["--store", store] }
    if let config { arguments += ["--config", config] }
    let program = Paths.engineProgram
    do throws(SystemError) {
      let (toEngine, fromEngine, errors) = (try Pipe(), try Pipe(), try Pipe())
      let process = try ChildProcess.spawnDetached(
        program, arguments, input: toEngine.read, output: fromEngine.write, errors: errors.write)
      return Started(
        connection: try EngineConnection(input: fromEngine.read, output: toEngine.write), process: process,
        errors: try ErrorText(errors.read))
    } catch {
      throw Stop(
        status: Exit.unavailable,
        message: "the engine \(program) can't be started: \(error.reason). Is taskcenter installed whole? "
          + "TASKCENTERD may name the engine's program")
    }
  }

  // MARK: Somebody else's

  /// - Returns: nil where nobody is at the door.
  private func knock() throws(Stop) -> EngineConnection? {
    let folder = try store.map { path throws(Stop) in try Paths.absolute(path) } ?? Paths.defaultStore
    guard let socket = try? UnixSocket.connect(folder: folder, name: "engine.sock"),
      let connection = try? EngineConnection(input: socket, output: socket)
    else { return nil }
    switch connection.isAnswered(timeoutMs: EngineLaunch.answerMs) {
    case .answered: return connection
    case .silent: throw EngineLaunch.silent
    case .gone: return nil
    }
  }

  // MARK: Sentences

  private static let silent = Stop(
    status: Exit.tryAgain,
    message: "the engine runs but does not answer; try again, or look after it: pgrep taskcenterd")

  /// - Parameters:
  ///   - status: nil: it was killed.
  ///   - text: what it wrote to stderr.
  static func stop(after status: Int32?, saying text: String) -> Stop {
    let lines = text.split(separator: "\n").map { PlainText.of(String($0)) }
    // Its reason for not starting, without the log around it.
    let reasons = lines.filter { $0.hasPrefix("taskcenterd: ") }.map { String($0.dropFirst("taskcenterd: ".count)) }
    let said = (reasons.isEmpty ? lines.suffix(5) : reasons[...]).joined(separator: "\n")
    switch status {
    case Exit.ok?: return Stop(status: Exit.unavailable, message: "the engine ended without a word")
    case let status?:
      return Stop(status: status, message: said.isEmpty ? "the engine ended with exit status \(status)" : said)
    case nil:
      return Stop(
        status: Exit.internalError, message: "the engine crashed, or was killed" + (said.isEmpty ? "" : ":\n" + said))
    }
  }
}

/// What the engine says on stderr. Read all the time, because an engine whose words nobody takes stands still once the
/// pipe is full.
private final class ErrorText: Sendable {
  private static let limit = 16 << 10
  private let bytes = Mutex<[UInt8]>([])
  private let ended = DispatchSemaphore(value: 0)

  /// - Throws: `SystemError` where no thread can be started.
  init(_ file: OpenFile) throws(SystemError) {
    try OwnThread.start(name: "tc-errors") { [self] in
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while true {
        let count = buffer.withUnsafeMutableBytes { read(file.descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        bytes.withLock { bytes in
          bytes += buffer[..<count]
          if bytes.count > ErrorText.limit { bytes.removeFirst(bytes.count - ErrorText.limit) }
        }
      }
      ended.signal()
    }
  }

  /// Its last words; call when it has ended. A child of it may still hold the pipe, so the wait is bounded.
  func text() -> String {
    _ = ended.wait(timeout: .now() + .seconds(1))
    return String(decoding: bytes.withLock { $0 }, as: UTF8.self)
  }
}
