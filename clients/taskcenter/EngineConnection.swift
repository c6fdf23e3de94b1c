import Dispatch
import Glibc
import JSON
import JSONRPC
import Platform
import Synchronization
import TaskProtocol

/// An engine at the other end. As every front end does, it starts `taskcenterd`; where another engine owns the store
/// already (exit status 75), it goes through that one's door, the Unix socket in the store's folder.
///
/// The engine is started with `--linger` in a session of its own: it goes on when this program has ended, and Ctrl-C or a
/// closed terminal do not reach it.
final class EngineConnection: Sendable {
  struct Settings: Sendable {
    var store: String?
    var config: String?
  }

  private struct State {
    var nextID: Int64 = 1
    var waiting: [Int64: @Sendable (Result<JSONValue, RPCError>) -> Void] = [:]
    var onNotification: (@Sendable (String, JSONValue) -> Void)?
    var isLost = false
    var hasAnswered = false
    var onLoss: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  private let output: Output
  private let process: Int32?

  private init(input: OpenFile, output: OpenFile, process: Int32?) throws(SystemError) {
    let loss = LossSignal()
    self.output = Output(output, onLoss: { loss.raise() })
    self.process = process
    loss.set { [weak self] in self?.lost() }
    try Input.start(
      input, handler: { [weak self] piece, _ in self?.take(piece) }, onEnd: { [weak self] in self?.lost() })
  }

  // MARK: Finding an engine

  /// - Throws: `Stop` where there is none to be had.
  static func open(_ settings: Settings) throws -> EngineConnection {
    for attempt in 0..<40 {
      let (connection, errors) = try spawn(settings)
      switch connection.probe() {
      case true: return connection
      case false:
        let status = connection.exitStatus()
        guard status == Exit.tryAgain else {
          throw Stop(status: status, message: errors.text(or: "the engine ended with exit status \(status)"))
        }
        if let shared = try? knock(settings), shared.probe() { return shared }
        // That engine is just starting, or just ending.
        if attempt == 39 { throw Stop(status: Exit.tryAgain, message: errors.text(or: "the store is in use")) }
        usleep(250_000)
      }
    }
    throw Stop(status: Exit.tryAgain, message: "the store is in use")
  }

  private static func knock(_ settings: Settings) throws -> EngineConnection {
    let folder = settings.store.map(Paths.absolute) ?? Paths.defaultStore
    let socket = try UnixSocket.connect(folder: folder, name: "engine.sock")
    return try EngineConnection(input: socket, output: socket, process: nil)
  }

  private static func spawn(_ settings: Settings) throws -> (EngineConnection, ErrorText) {
    var arguments = ["taskcenterd", "--linger"]
    if let store = settings.store { arguments += ["--store", store] }
    if let config = settings.config { arguments += ["--config", config] }
    do throws(SystemError) {
      let toEngine = try Pipe()
      let fromEngine = try Pipe()
      let errors = try Pipe()
      let process = try ChildProcess.spawnDetached(
        Paths.engineProgram, arguments, input: toEngine.read, output: fromEngine.write, errors: errors.write)
      let connection = try EngineConnection(input: fromEngine.read, output: toEngine.write, process: process)
      return (connection, ErrorText(errors.read))
    } catch {
      throw Stop(
        status: Exit.unavailable,
        message: "the engine \(Paths.engineProgram) can't be started: \(error.reason); is taskcenter installed whole?")
    }
  }

  /// Whether somebody answers.
  private func probe() -> Bool { (try? call(EngineStatus())) != nil }

  private func exitStatus() -> Int32 {
    guard let process else { return Exit.unavailable }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 { if errno != EINTR { return Exit.unavailable } }
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 70
  }

  // MARK: Talking

  /// Waits for the answer.
  /// - Throws: `RPCError`; `Stop` where the engine has gone.
  func call(_ request: some Request) throws -> JSONValue {
    let done = DispatchSemaphore(value: 0)
    let answer = Answer()
    send(request) { result in
      answer.set(result)
      done.signal()
    }
    done.wait()
    return try answer.get()
  }

  /// Answers through `reply`, on another thread.
  func send<R: Request>(_ request: R, reply: @escaping @Sendable (Result<JSONValue, RPCError>) -> Void) {
    let id = state.withLock { state -> Int64? in
      if state.isLost { return nil }
      defer { state.nextID += 1 }
      state.waiting[state.nextID] = reply
      return state.nextID
    }
    guard let id else { return reply(.failure(EngineConnection.gone)) }
    output.send(.request(id: .int(id), method: R.method, params: request.params))
  }

  /// Called on the reading thread, in order.
  func onNotification(_ callback: @escaping @Sendable (String, JSONValue) -> Void) {
    state.withLock { $0.onNotification = callback }
  }

  func onLoss(_ callback: @escaping @Sendable () -> Void) {
    let isLost = state.withLock { state in
      state.onLoss = callback
      return state.isLost
    }
    if isLost { callback() }
  }

  private static let gone = RPCError(code: -32007, message: "the engine has ended", data: ["code": "engineGone"])

  private func take(_ piece: MessageSplitter.Piece) {
    guard case .message(let bytes) = piece, let value = try? JSONParser.parse(bytes) else { return }
    switch Message(value) {
    case .response(let id, let result):
      let reply = state.withLock { state in id.int.flatMap { state.waiting.removeValue(forKey: $0) } }
      reply?(result)
    case .notification(let method, let params):
      state.withLock { $0.onNotification }?(method, params ?? .null)
    case .request, .invalid: break
    }
  }

  private func lost() {
    let (waiting, callback) = state.withLock { state in
      state.isLost = true
      defer { state.waiting = [:] }
      return (Array(state.waiting.values), state.onLoss)
    }
    for reply in waiting { reply(.failure(EngineConnection.gone)) }
    callback?()
  }
}

private final class Answer: Sendable {
  private let result = Mutex<Result<JSONValue, RPCError>?>(nil)
  func set(_ value: Result<JSONValue, RPCError>) { result.withLock { $0 = value } }
  func get() throws -> JSONValue {
    guard let result = result.withLock({ $0 }) else { throw Stop(status: Exit.unavailable, message: "no answer") }
    return try result.get()
  }
}

private final class LossSignal: Sendable {
  private let callback = Mutex<(@Sendable () -> Void)?>(nil)
  func set(_ new: @escaping @Sendable () -> Void) { callback.withLock { $0 = new } }
  func raise() { callback.withLock { $0 }?() }
}

/// What the engine says on stderr until this program ends, for the case that it does not start.
final class ErrorText: Sendable {
  private let file: OpenFile
  init(_ file: OpenFile) { self.file = file }

  /// - Returns: the last line; call when the engine has ended.
  func text(or fallback: String) -> String {
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    let count = bytes.withUnsafeMutableBytes { read(file.descriptor, $0.baseAddress, $0.count) }
    let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
    return lines.last.map(String.init) ?? fallback
  }
}
