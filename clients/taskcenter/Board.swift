import JSON
import TaskModel

/// The tasks that are followed, as far as events tell; a value without I/O.
///
/// An event may come before the snapshot that it belongs after, or just behind it on another thread. What an event has
/// told of a task is never older than the snapshot, so the snapshot only fills in what no event has told.
struct Board {
  /// The ids that were named; nil: every task that is, or comes.
  let named: [String]?
  private(set) var order: [String]
  private(set) var tasks: [String: JSONValue] = [:]
  private var hasSnapshot = false

  static let deleted = "deleted"

  init(named: [String]?) {
    self.named = named
    order = []
    for id in named ?? [] where !order.contains(id) { order.append(id) }
  }

  /// - Parameter snapshot: newest first, as the engine gives it.
  /// - Returns: the tasks to tell of.
  mutating func begin(_ snapshot: [JSONValue]) -> [JSONValue] {
    hasSnapshot = true
    var news: [JSONValue] = []
    for task in snapshot.reversed() {
      guard let id = task["id"]?.string, tasks[id] == nil else { continue }
      // Without names, what has ended long ago is no news.
      if named == nil, Board.isFinal(task) { continue }
      put(task, id)
      news.append(task)
    }
    return news
  }

  /// - Returns: whether the task has come to another state.
  mutating func change(_ task: JSONValue) -> Bool {
    guard let id = task["id"]?.string else { return false }
    let before = tasks[id]?["state"]
    put(task, id)
    return before != task["state"]
  }

  /// - Returns: whether it was one of the tasks.
  mutating func progress(_ params: JSONValue) -> Bool {
    guard let id = params["id"]?.string, var task = tasks[id]?.object else { return false }
    task["progress"] = params["progress"]
    tasks[id] = .object(task)
    return true
  }

  /// A task that is gone has ended, and is shown as such.
  /// - Returns: the task as it is told of.
  mutating func delete(_ id: String) -> JSONValue? {
    guard named == nil || order.contains(id) else { return nil }
    var task = tasks[id]?.object ?? JSONObject([("id", .string(id))])
    task["state"] = .string(Board.deleted)
    tasks[id] = .object(task)
    return .object(task)
  }

  private mutating func put(_ task: JSONValue, _ id: String) {
    if tasks[id] == nil, !order.contains(id) { order.append(id) }
    tasks[id] = task
  }

  var all: [JSONValue] { order.compactMap { tasks[$0] } }

  /// Named ids of which neither the snapshot nor an event knows anything: there are no such tasks.
  var unknown: [String] { hasSnapshot ? (named ?? []).filter { tasks[$0] == nil } : [] }

  /// Every named task has ended.
  var hasEnded: Bool { hasSnapshot && named != nil && tasks.count >= order.count && all.allSatisfy(Board.isFinal) }

  /// Nothing goes on without a person.
  var isIdle: Bool { hasSnapshot && all.allSatisfy { Board.isFinal($0) || Board.isHeld($0) } }

  /// As many as a screen of so many rows takes, in order, those that go on before those that have ended. The last row is the
  /// cursor's, and where some are left out one more says how many.
  func shown(_ rows: Int) -> [JSONValue] {
    let limit = max(1, all.count < rows ? rows - 1 : rows - 2)
    let open = order.filter { id in tasks[id].map { !Board.isFinal($0) } ?? false }
    let ended = order.filter { id in tasks[id].map(Board.isFinal) ?? false }
    let chosen = Set(open.prefix(limit) + ended.suffix(max(0, limit - open.count)))
    return order.filter(chosen.contains).compactMap { tasks[$0] }
  }

  static func isFinal(_ task: JSONValue) -> Bool {
    let state = task["state"]?.string ?? ""
    return state == deleted || TaskState(rawValue: state)?.isFinal == true
  }

  private static func isHeld(_ task: JSONValue) -> Bool {
    let state = task["state"]?.string
    return state == TaskState.draft.rawValue || state == TaskState.paused.rawValue
  }
}
