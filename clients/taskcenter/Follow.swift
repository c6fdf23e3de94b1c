import Dispatch
import Glibc
import JSON
import JSONRPC
import Synchronization
import TaskModel
import TaskProtocol

/// Follows tasks to their end: bars that move on a terminal, a line for each change elsewhere.
final class Follow: Sendable {
  private struct State {
    var order: [String]
    var tasks: [String: JSONValue] = [:]
    var drawn = 0
    var lastStates: [String: String] = [:]
    var isOver = false
  }

  private let connection: EngineConnection
  private let isLively: Bool
  private let wantsJSON: Bool
  /// No ids were named: every task that is, or comes.
  private let followsAll: Bool
  private let state: Mutex<State>
  private let done = DispatchSemaphore(value: 0)

  init(_ connection: EngineConnection, ids: [String], wantsJSON: Bool = false) {
    self.connection = connection
    self.wantsJSON = wantsJSON
    followsAll = ids.isEmpty
    isLively = Terminal.isLively(2) && !wantsJSON
    state = Mutex(State(order: ids))
  }

  /// - Returns: the tasks as they ended.
  /// - Throws: `Stop` at Ctrl-C, and where the engine has gone.
  func run() throws -> [JSONValue] {
    connection.onNotification { [self] method, params in take(method, params) }
    var subscribe = Subscribe()
    if !followsAll { subscribe.filter.ids = state.withLock { $0.order } }
    let answer = try connection.call(subscribe)
    for task in (answer["tasks"]?.array ?? []).reversed() where !followsAll || !isFinal(task) { show(task) }
    connection.onLoss { [self] in finish() }
    let interrupt = listenForInterrupt()
    defer { interrupt.cancel() }
    checkEnd()
    done.wait()
    let tasks = state.withLock { state in state.order.compactMap { state.tasks[$0] } }
    if wasInterrupted.withLock({ $0 }) {
      let left = tasks.contains { !isFinal($0) }
      if left { Terminal.complain("The send goes on in the background. See: taskcenter watch, taskcenter cancel ID") }
      throw Stop(status: Exit.interrupted, message: "")
    }
    if !followsAll, tasks.contains(where: { !isFinal($0) }) {
      throw Stop(
        status: Exit.tryAgain, message: "the engine has ended before the task; it goes on when the engine runs")
    }
    return tasks
  }

  private let wasInterrupted = Mutex(false)

  private func listenForInterrupt() -> any DispatchSourceSignal {
    signal(SIGINT, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler { @Sendable [self] in
      wasInterrupted.withLock { $0 = true }
      finish()
    }
    source.resume()
    return source
  }

  private func finish() {
    let isFirst = state.withLock { state in
      defer { state.isOver = true }
      return !state.isOver
    }
    if isFirst { done.signal() }
  }

  // MARK: Events

  private func take(_ method: String, _ params: JSONValue) {
    if wantsJSON, method.hasPrefix("task/") {
      Terminal.print(JSONWriter.text(["event": .string(method), "params": params]))
    }
    switch method {
    case "task/changed": if let task = params["task"] { show(task) }
    case "task/progress": if let id = params["id"]?.string { progress(id, params) }
    default: break
    }
    checkEnd()
  }

  private func show(_ task: JSONValue) {
    guard let id = task["id"]?.string else { return }
    let text = state.withLock { state -> String in
      if !state.order.contains(id) { state.order.append(id) }
      state.tasks[id] = task
      if isLively { return bars(&state) }
      let told = task["state"]?.string ?? ""
      guard state.lastStates.updateValue(told, forKey: id) != told else { return "" }
      return Describe.line(task) + "\n"
    }
    if !wantsJSON { Terminal.write(text, to: 2) }
  }

  private func progress(_ id: String, _ params: JSONValue) {
    let text = state.withLock { state -> String in
      guard var object = state.tasks[id]?.object else { return "" }
      object["progress"] = params["progress"]
      state.tasks[id] = .object(object)
      return isLively ? bars(&state) : ""
    }
    if !wantsJSON { Terminal.write(text, to: 2) }
  }

  /// Draws over what was drawn before.
  private func bars(_ state: inout State) -> String {
    let width = Terminal.width(2)
    var text = state.drawn > 0 ? "\u{1B}[\(state.drawn)A" : ""
    let shown = state.order.compactMap { state.tasks[$0] }.suffix(20)
    for task in shown { text += "\r\u{1B}[K" + Describe.bar(task, width: width) + "\n" }
    state.drawn = shown.count
    return text
  }

  /// Named tasks end the watch when they are final; without names it ends, away from a terminal, when nothing is left.
  private func checkEnd() {
    let isOver = state.withLock { state in
      let tasks = state.order.compactMap { state.tasks[$0] }
      if followsAll { return !Terminal.isLively(1) && tasks.allSatisfy { isFinal($0) } }
      return tasks.count == state.order.count && tasks.allSatisfy { isFinal($0) }
    }
    if isOver { finish() }
  }

  private func isFinal(_ task: JSONValue) -> Bool {
    (task["state"]?.string).flatMap(TaskState.init)?.isFinal ?? false
  }
}
