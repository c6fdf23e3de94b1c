import SQLite
public import TaskModel

/// Which tasks are meant; absent parts do not narrow.
public struct TaskFilter: Sendable, Hashable {
  public var account: String?
  public var kind: TaskKind?
  public var lane: String?
  public var key: String?
  public var states: Set<TaskState>?
  public var ids: Set<SendTask.ID>?

  public init() {}

  public func matches(_ task: SendTask) -> Bool {
    (account ?? task.account) == task.account && (kind ?? task.kind) == task.kind && (lane ?? task.lane) == task.lane
      && (key == nil || key == task.key) && (states?.contains(task.state) ?? true) && (ids?.contains(task.id) ?? true)
  }

  var condition: (sql: String, values: [SQLValue]) {
    var parts = ["1"]
    var values: [SQLValue] = []
    func add(_ column: String, _ value: String?) {
      guard let value else { return }
      parts.append("\(column) = ?")
      values.append(.text(value))
    }
    func add(_ column: String, among words: [String]?) {
      guard let words else { return }
      parts.append("\(column) IN (\(words.map { _ in "?" }.joined(separator: ", ")))")
      values += words.map(SQLValue.text)
    }
    add("account", account)
    add("kind", kind?.rawValue)
    add("lane", lane)
    add("key", key)
    add("state", among: states.map { $0.map(\.rawValue).sorted() })
    add("id", among: ids?.sorted())
    return (parts.joined(separator: " AND "), values)
  }
}
