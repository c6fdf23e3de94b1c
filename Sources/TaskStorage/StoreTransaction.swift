import JSON
import SQLite
public import TaskModel

/// Reading and writing inside one transaction of the store. Lent to a closure; never kept.
public final class StoreTransaction {
  let connection: Connection
  let now: Int64
  /// Made by this transaction, to be published when it is committed.
  private(set) var changes: [Change] = []

  init(_ connection: Connection, now: Int64) {
    self.connection = connection
    self.now = now
  }

  // MARK: Reading

  public func task(_ id: SendTask.ID) throws -> SendTask? {
    try tasks(where: "id = ?", [.text(id)], limit: 1).first
  }

  func tasks(where condition: String, _ values: [SQLValue], order: String = "sequence", limit: Int) throws -> [SendTask]
  {
    try page(where: condition, values, order: order, limit: limit, maxBytes: .max).tasks
  }

  /// - Parameter maxBytes: of payloads; the task that goes beyond it is the page's last one.
  func page(
    where condition: String, _ values: [SQLValue], order: String, limit: Int, maxBytes: Int
  ) throws -> (tasks: [SendTask], isCutShort: Bool) {
    let sql = "SELECT \(TaskRecord.columns) FROM tasks WHERE \(condition) ORDER BY \(order) LIMIT \(limit)"
    var tasks: [SendTask] = []
    var bytes = 0
    do {
      _ = try connection.query(sql, values) { row in
        guard bytes <= maxBytes else { throw Enough() }
        bytes += row.byteCount(TaskRecord.payloadColumn)
        tasks.append(try TaskRecord.task(row, resources: try resources(ofTask: row.int64(0))))
      }
    } catch is Enough {
      return (tasks, true)
    }
    return (tasks, false)
  }

  /// Ends a query whose further rows nobody wants.
  struct Enough: Error {}

  private func resources(ofTask sequence: Int64) throws -> [Resource] {
    try connection.query(
      "SELECT \(TaskRecord.resourceColumns) FROM resources WHERE task = ? ORDER BY position", [.integer(sequence)],
      TaskRecord.resource)
  }

  /// The task that this account submitted with this key, and the hash of what it was.
  public func submission(account: String, key: String) throws -> (id: SendTask.ID, contentHash: String)? {
    try connection.first(
      "SELECT id, content_hash FROM tasks WHERE account = ? AND key = ?", [.text(account), .text(key)]
    ) { ($0.text(0), $0.text(1)) }
  }

  /// Tasks that hold this lane, in submit order.
  public func tasksHolding(_ lane: LaneID) throws -> [SendTask.ID] {
    let states = TaskState.allCases.filter(\.holdsLane).map { "'\($0.rawValue)'" }.joined(separator: ", ")
    return try connection.query(
      "SELECT id FROM tasks WHERE account = ? AND lane = ? AND state IN (\(states)) ORDER BY sequence",
      [.text(lane.account), .text(lane.name)]
    ) { $0.text(0) }
  }

  // MARK: Writing

  /// Adds a new task and tells of it.
  /// - Returns: the task with its place in the order of submits.
  public func insert(_ task: SendTask, contentHash: String) throws -> SendTask {
    try connection.insert(task, contentHash: contentHash)
    var inserted = task
    inserted.sequence =
      try connection.first("SELECT sequence FROM tasks WHERE id = ?", [.text(task.id)]) {
        $0.int64(0)
      } ?? 0
    try tell(inserted, from: nil)
    return inserted
  }

  /// Removes a task with its history; of its changes only the news of its end stays.
  public func delete(_ task: SendTask) throws {
    try connection.execute("DELETE FROM tasks WHERE sequence = ?", [.integer(task.sequence)])
    try connection.execute("DELETE FROM changes WHERE task_id = ?", [.text(task.id)])
    try tell(task, json: nil, from: task.state)
  }

  /// What a write told before it was undone was never said.
  func forgetChanges(after count: Int) { changes.removeSubrange(count...) }

  func tell(_ task: SendTask, from oldState: TaskState?) throws {
    try tell(task, json: task.json, from: oldState)
  }

  private func tell(_ task: SendTask, json: JSONValue?, from oldState: TaskState?) throws {
    try connection.execute(
      "INSERT INTO changes (task_id, at, task) VALUES (?, ?, ?)",
      [.text(task.id), .integer(now), SQLValue(json.map(JSONWriter.text))])
    changes.append(
      Change(cursor: connection.lastInsertedRowID, taskID: task.id, json: json, task: task, oldState: oldState))
  }
}
