import Dispatch
import JSON
import JSONRPC
import Platform
import Synchronization
import TaskProtocol

/// A session with an engine: requests that wait for their answers, and notifications through a callback. Whatever
/// happens to the engine, nobody waits for it forever: when the stream ends, every open request is answered with an error.
final class EngineConnection: Sendable {
  typealias Reply = @Sendable (Result<JSONValue, RPCError>) -> Void

  private struct State {
    var nextID: Int64 = 1
    var waiting: [Int64: Reply] = [:]
    var onNotification: (@Sendable (String, JSONValue) -> Void)?
    var onLoss: (@Sendable () -> Void)?
    var isLost = false
  }

  private let state: StateBox
  private let output: Output

  /// The part that the reading thread and the writer's loss reach without holding the connection.
  private final class StateBox: Sendable {
    let value = Mutex(State())
  }

  /// - Throws: `SystemError` where no thread can be started.
  init(input: OpenFile, output: OpenFile) throws(SystemError) {
    let state = StateBox()
    self.state = state
    self.output = Output(output, onLoss: { EngineConnection.lose(state) })
    try Input.start(
      input, handler: { piece, _ in EngineConnection.take(piece, state) }, onEnd: { EngineConnection.lose(state) })
  }

  // MARK: Requests

  /// Waits for the answer.
  /// - Parameter timeoutMs: absent: as long as the engine lives.
  /// - Throws: `RPCError`: the engine's, or `engineGone` or `engineSilent`.
  func call(_ request: some Request, timeoutMs: Int? = nil) throws(RPCError) -> JSONValue {
    let answered = DispatchSemaphore(value: 0)
    let answer = Answer()
    send(request) { result in
      answer.set(result)
      answered.signal()
    }
    let deadline = timeoutMs.map { DispatchTime.now() + .milliseconds($0) } ?? .distantFuture
    guard answered.wait(timeout: deadline) == .success, let result = answer.value else {
      throw EngineConnection.silent
    }
    return try result.get()
  }

  /// Answers through `reply`, once: on the reading thread, in its place among the notifications.
  func send<R: Request>(_ request: R, reply: @escaping Reply) {
    let id = state.value.withLock { state -> Int64? in
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
    state.value.withLock { $0.onNotification = callback }
  }

  /// Called once, when the engine has gone; at once if it has already.
  func onLoss(_ callback: @escaping @Sendable () -> Void) {
    let isLost = state.value.withLock { state in
      if !state.isLost { state.onLoss = callback }
      return state.isLost
    }
    if isLost { callback() }
  }

  /// Whether somebody answers within the time; a refusal is an answer too.
  func isAnswered(timeoutMs: Int) -> Probe {
    do {
      _ = try call(EngineStatus(), timeoutMs: timeoutMs)
      return .answered
    } catch EngineConnection.gone {
      return .gone
    } catch EngineConnection.silent {
      return .silent
    } catch {
      return .answered
    }
  }

  enum Probe { case answered, gone, silent }

  static let gone = RPCError(
    code: -32_010, message: "the engine ended before it answered", data: ["code": "engineGone"])
  static let silent = RPCError(code: -32_011, message: "the engine does not answer", data: ["code": "engineSilent"])

  // MARK: What comes in

  private static func take(_ piece: MessageSplitter.Piece, _ state: StateBox) {
    guard case .message(let bytes) = piece, let value = try? JSONParser.parse(bytes) else { return }
    switch Message(value) {
    case .response(let id, let result):
      let reply = state.value.withLock { state in id.int.flatMap { state.waiting.removeValue(forKey: $0) } }
      reply?(result)
    case .notification(let method, let params):
      state.value.withLock { $0.onNotification }?(method, params ?? .null)
    case .request, .invalid: break
    }
  }

  private static func lose(_ state: StateBox) {
    let (waiting, callback) = state.value.withLock { state in
      state.isLost = true
      defer {
        state.waiting = [:]
        state.onLoss = nil
      }
      return (Array(state.waiting.values), state.onLoss)
    }
    for reply in waiting { reply(.failure(gone)) }
    callback?()
  }
}

private final class Answer: Sendable {
  private let result = Mutex<Result<JSONValue, RPCError>?>(nil)
  func set(_ value: Result<JSONValue, RPCError>) { result.withLock { $0 = value } }
  var value: Result<JSONValue, RPCError>? { result.withLock { $0 } }
}
