import JSON
import SQLite
public import TaskModel

/// One line of a task's history.
public struct HistoryEntry: Sendable, Hashable {
  public let at: Int64
  public let attempt: Int
  public let transition: Transition
}

/// Some tasks, and whether there are more behind them.
public struct TaskPage: Sendable {
  public let tasks: [SendTask]
  public let isLast: Bool
}

extension StoreTransaction {
  /// What one answer should hold at most, in bytes: a front end whose unread answers grow beyond 64 MiB is dropped, and a
  /// payload may have 16.
  public static let pageBytes = 16 << 20

  /// Newest first, and fewer than `limit` where their payloads are large.
  /// - Parameter before: only tasks submitted earlier than the one with this sequence.
  public func page(_ filter: TaskFilter, before: Int64? = nil, limit: Int) throws -> TaskPage {
    var (condition, values) = filter.condition
    if let before {
      condition += " AND sequence < ?"
      values.append(.integer(before))
    }
    // One more than wanted tells whether there is a next page.
    let found = try page(
      where: condition, values, order: "sequence DESC", limit: limit + 1, maxBytes: Self.pageBytes)
    return TaskPage(
      tasks: Array(found.tasks.prefix(limit)), isLast: !found.isCutShort && found.tasks.count <= limit)
  }

  /// Everything of one account, in submit order.
  public func tasks(ofAccount account: String) throws -> [SendTask] {
    try tasks(where: "account = ?", [.text(account)], limit: -1)
  }

  /// Everything that is not final, in submit order: what the engine has to do with.
  public func unfinishedTasks() throws -> [SendTask] {
    try tasks(where: "finished_at IS NULL", [], limit: -1)
  }

  func stateCounts() throws -> [TaskState: Int] {
    let rows = try connection.query("SELECT state, count(*) FROM tasks GROUP BY state") { row in
      (try TaskRecord.word("state", row.text(0)) as TaskState, row.int(1))
    }
    return Dictionary(uniqueKeysWithValues: rows)
  }

  public func history(of task: SendTask) throws -> [HistoryEntry] {
    try connection.query(
      "SELECT at, attempt, position, from_state, to_state, failure FROM history WHERE task = ? ORDER BY id",
      [.integer(task.sequence)]
    ) { row in
      HistoryEntry(
        at: row.int64(0), attempt: row.int(1),
        transition: Transition(
          resource: row.optionalInt64(2).map(Int.init), from: row.text(3), to: row.text(4),
          failure: try row.optionalText(5).map { try Failure(stored: $0) }))
    }
  }

  /// Cursor of the latest change; 0 in a new store.
  public func lastCursor() throws -> Int64 {
    try connection.first("SELECT ifnull(max(cursor), 0) FROM changes") { $0.int64(0) } ?? 0
  }

  /// Changes after `cursor`, oldest first.
  /// - Parameter maxBytes: of their text.
  /// - Returns: nil where there are more than that.
  public func changes(since cursor: Int64, maxBytes: Int = .max) throws -> [Change]? {
    var bytes = 0
    do {
      return try connection.query(
        "SELECT cursor, task_id, task FROM changes WHERE cursor > ? ORDER BY cursor", [.integer(cursor)]
      ) { row in
        bytes += row.byteCount(2)
        guard bytes <= maxBytes else { throw Enough() }
        return Change(
          cursor: row.int64(0), taskID: row.text(1), json: try row.optionalText(2).map { try JSONParser.parse($0) },
          task: nil, oldState: nil)
      }
    } catch is Enough {
      return nil
    }
  }

  /// Export files that some task still refers to.
  func exportFiles() throws -> [ExportedFile] {
    let files = try connection.query("SELECT export FROM resources WHERE export IS NOT NULL") { row in
      try ExportedFile(stored: row.text(0))
    }
    return files.filter { !$0.isRemoved }
  }

  /// Files of `sources/` that some task still refers to.
  func sourceFiles() throws -> Set<String> {
    let sources = try connection.query("SELECT source FROM resources WHERE source LIKE '%\"file\"%'") { row in
      try Source(stored: row.text(0))
    }
    return Set(sources.compactMap(\.file))
  }

  /// Final tasks that ended before `time`, oldest first, at most `limit`.
  public func finishedTasks(before time: Int64, limit: Int) throws -> [SendTask] {
    try tasks(where: "finished_at < ?", [.integer(time)], limit: limit)
  }
}
