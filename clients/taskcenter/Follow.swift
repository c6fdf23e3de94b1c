import Dispatch
import Glibc
import JSON
import JSONRPC
import Platform
import Synchronization
import TaskModel
import TaskProtocol

/// Follows tasks to their end: bars that move on a terminal, a line for each change elsewhere, or one JSON event a line.
final class Follow: Sendable {
  private enum Ending {
    case over, interrupted, gone
    case refused(RPCError)
  }

  private struct State {
    var board: Board
    /// Bars on the screen.
    var drawn = 0
    var ending: Ending?
  }

  private let connection: EngineConnection
  private let descriptor: Int32
  private let asJSON: Bool
  private let isLively: Bool
  private let hasColour: Bool
  private let sameEngine: String
  private let state: Mutex<State>
  private let done = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - ids: none: every task.
  ///   - descriptor: where to tell it.
  init(_ connection: EngineConnection, ids: [String], to descriptor: Int32, asJSON: Bool, sameEngine: String) {
    self.connection = connection
    self.descriptor = descriptor
    self.asJSON = asJSON
    self.sameEngine = sameEngine
    isLively = Terminal.isLively(descriptor) && !asJSON
    hasColour = Terminal.hasColour(descriptor)
    state = Mutex(State(board: Board(named: ids.isEmpty ? nil : ids)))
  }

  /// - Returns: the tasks as they ended.
  /// - Throws: `Stop` at Ctrl-C, where the engine has gone, and for an id that no task has; `RPCError`.
  func run() throws -> [JSONValue] {
    let interrupt = listenForInterrupt()
    defer { interrupt.cancel() }
    connection.onNotification { [self] method, params in take(method, params) }
    var subscribe = Subscribe()
    subscribe.filter.ids = state.withLock { $0.board.named }
    // Taken on the reading thread: in its place before the first event, not whenever this thread wakes up.
    connection.send(subscribe) { [self] result in begin(result) }
    connection.onLoss { [self] in end(.gone) }
    done.wait()
    let (board, ending) = state.withLock { ($0.board, $0.ending) }
    switch ending {
    case .over, nil: return board.all
    case .refused(let error): throw error
    case .interrupted: throw Stop(status: Exit.interrupted, message: Follow.farewell(board, sameEngine))
    case .gone:
      throw Stop(
        status: Exit.tryAgain, message: "the engine has ended before the task; it goes on as soon as an engine runs")
    }
  }

  /// What a person at Ctrl-C must know: that it stops the watching, not the sending.
  static func farewell(_ board: Board, _ sameEngine: String) -> String {
    let open = (board.named ?? []).filter { id in board.tasks[id].map { !Board.isFinal($0) } ?? false }
    guard !open.isEmpty else { return "" }
    let ids = open.joined(separator: " ")
    return """
      \(open.count == 1 ? "the send goes" : "the sends go") on in the background
        watch:      taskcenter watch \(ids)\(sameEngine)
        take back:  taskcenter cancel \(ids)\(sameEngine)
      """
  }

  private func listenForInterrupt() -> any DispatchSourceSignal {
    signal(SIGINT, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler { @Sendable [self] in end(.interrupted) }
    source.resume()
    return source
  }

  /// The first reason to end is the one that counts.
  private func end(_ ending: Ending) {
    let isFirst = state.withLock { state in
      guard state.ending == nil else { return false }
      state.ending = ending
      return true
    }
    if isFirst { done.signal() }
  }

  // MARK: Events, all on the reading thread

  private func begin(_ result: Result<JSONValue, RPCError>) {
    switch result {
    case .failure(let error): end(.refused(error))
    case .success(let answer):
      let unknown = tell { board in
        board.begin(answer["tasks"]?.array ?? []).map { (event("task/changed", ["task": $0]), $0) }
      }
      if let id = unknown.first { return end(.refused(.notFound(id))) }
    }
  }

  private func take(_ method: String, _ params: JSONValue) {
    tell { board in
      switch method {
      case "task/changed":
        guard let task = params["task"] else { return [] }
        return board.change(task) || asJSON ? [(event(method, params), task)] : []
      case "task/progress": return board.progress(params) && asJSON ? [(event(method, params), nil)] : []
      case "task/deleted":
        return params["id"]?.string.flatMap { board.delete($0) }.map { [(event(method, params), $0)] } ?? []
      default: return []
      }
    }
  }

  private func event(_ method: String, _ params: JSONValue) -> JSONValue {
    ["event": .string(method), "params": params]
  }

  /// Lets `change` change the board, says what it returns (an event, and the task for people), and looks for the end.
  /// - Returns: named ids that no task has.
  @discardableResult
  private func tell(_ change: (inout Board) -> [(JSONValue, JSONValue?)]) -> [String] {
    let (isOver, unknown) = state.withLock { state in
      guard state.ending == nil else { return (false, [String]()) }
      let news = change(&state.board)
      if isLively {
        Terminal.write(bars(&state), to: descriptor)
      } else {
        for (event, task) in news {
          guard let line = asJSON ? JSONWriter.text(event) : task.map(Describe.line) else { continue }
          Terminal.write(line + "\n", to: descriptor)
        }
      }
      // Without names a person ends it; a pipe that nobody ends closes when nothing is left to run.
      let isOver = state.board.named == nil ? !isOnTerminal && state.board.isIdle : state.board.hasEnded
      return (isOver, state.board.unknown)
    }
    if isOver { end(.over) }
    return unknown
  }

  private var isOnTerminal: Bool { isatty(descriptor) == 1 }

  /// Draws over what was drawn before.
  private func bars(_ state: inout State) -> String {
    let size = Terminal.size(descriptor)
    let shown = state.board.shown(size.rows)
    let hidden = state.board.all.count - shown.count
    let now = SystemTime.wallMs()
    var text = state.drawn > 0 ? "\u{1B}[\(state.drawn)A" : ""
    for task in shown {
      text += "\r\u{1B}[K" + Describe.bar(task, width: size.columns, colour: hasColour, now: now) + "\n"
    }
    if hidden > 0 { text += "\r\u{1B}[K" + PlainText.clip("and \(hidden) more", size.columns - 1) + "\n" }
    state.drawn = shown.count + (hidden > 0 ? 1 : 0)
    return text + "\u{1B}[J"
  }
}
