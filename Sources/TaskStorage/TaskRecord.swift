import JSON
import SQLite
import TaskModel

// A task as rows: one of `tasks`, one of `resources` for each resource.

enum TaskRecord {
  static let columns = """
    sequence, id, key, account, kind, lane, destination, state, partial, min_resources, urgency, not_before, payload, \
    attempt, failed_attempts, next_attempt_at, waiting_for, pending_since, deliveries_in_doubt, cancel_requested, \
    has_progressed, failure, remote_id, progress, created_at, updated_at, finished_at
    """

  /// The one column that can be large.
  static let payloadColumn = 12

  static func task(_ row: borrowing Row, resources: [Resource]) throws -> SendTask {
    var task = SendTask(
      id: row.text(1), sequence: row.int64(0), key: row.optionalText(2), account: row.text(3),
      kind: try word("kind", row.text(4)), lane: row.text(5), destination: row.text(6),
      state: try word("state", row.text(7)), partial: try word("partial", row.text(8)), minResources: row.int(9),
      urgency: try word("urgency", row.text(10)), notBefore: row.optionalInt64(11),
      payload: try row.optionalText(payloadColumn).map { try JSONParser.parse($0) }, resources: resources,
      createdAt: row.int64(24))
    task.attempt = row.int(13)
    task.failedAttempts = row.int(14)
    task.nextAttemptAt = row.optionalInt64(15)
    task.waitingFor = try row.optionalText(16).map { try word("waiting_for", $0) }
    task.pendingSince = row.int64(17)
    task.deliveriesInDoubt = row.int(18)
    task.cancelRequested = row.bool(19)
    task.hasProgressed = row.bool(20)
    task.failure = try row.optionalText(21).map { try Failure(stored: $0) }
    task.remoteId = row.optionalText(22)
    task.progress = row.double(23)
    task.updatedAt = row.int64(25)
    task.finishedAt = row.optionalInt64(26)
    return task
  }

  static let resourceColumns = """
    position, role, derived_from, name, source, source_mime, identity, state, export, upload_protocol, upload_state, url, \
    receipt, failure, repeats
    """

  static func resource(_ row: borrowing Row) throws -> Resource {
    var resource = Resource(
      index: row.int(0), role: try word("role", row.text(1)), derivedFrom: row.optionalInt64(2).map(Int.init),
      source: try Source(stored: row.text(4)), name: row.text(3), sourceMime: row.text(5),
      identity: try row.optionalText(6).map { try SourceIdentity(stored: $0) })
    resource.state = try word("state", row.text(7))
    resource.export = try row.optionalText(8).map { try ExportedFile(stored: $0) }
    resource.uploadProtocol = row.optionalText(9)
    resource.uploadState = try row.optionalText(10).map { try JSONParser.parse($0) }
    resource.url = row.optionalText(11)
    resource.receipt = try row.optionalText(12).map { try Receipt(stored: $0) }
    resource.failure = try row.optionalText(13).map { try Failure(stored: $0) }
    resource.repeats = row.int(14)
    return resource
  }

  static func word<T: RawRepresentable>(_ column: String, _ text: String) throws -> T where T.RawValue == String {
    guard let value = T(rawValue: text) else { throw StoreError.unknownValue(column: column, value: text) }
    return value
  }
}

extension Connection {
  func insert(_ task: SendTask, contentHash: String) throws {
    try execute(
      """
      INSERT INTO tasks (id, key, content_hash, account, kind, lane, destination, state, partial, min_resources, urgency, \
      not_before, payload, attempt, failed_attempts, next_attempt_at, waiting_for, pending_since, deliveries_in_doubt, \
      cancel_requested, has_progressed, failure, remote_id, progress, created_at, updated_at, finished_at) \
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .text(task.id), SQLValue(task.key), .text(contentHash), .text(task.account), .text(task.kind.rawValue),
        .text(task.lane), .text(task.destination), .text(task.state.rawValue), .text(task.partial.rawValue),
        SQLValue(task.minResources), .text(task.urgency.rawValue), SQLValue(task.notBefore),
        SQLValue(task.payload.map(JSONWriter.text)),
      ] + changingValues(task).dropFirst() + [
        .integer(task.createdAt), .integer(task.updatedAt), SQLValue(task.finishedAt),
      ]
    )
    let sequence = lastInsertedRowID
    for resource in task.resources {
      try execute(
        "INSERT INTO resources (task, \(TaskRecord.resourceColumns)) "
          + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
          .integer(sequence), SQLValue(resource.index), .text(resource.role.rawValue), SQLValue(resource.derivedFrom),
        ] + changingValues(resource))
    }
  }

  /// - Parameter state: what the row must say now; otherwise nothing is written.
  func update(_ task: SendTask, expecting state: TaskState) throws {
    try execute(
      """
      UPDATE tasks SET state = ?, attempt = ?, failed_attempts = ?, next_attempt_at = ?, waiting_for = ?, \
      pending_since = ?, deliveries_in_doubt = ?, cancel_requested = ?, has_progressed = ?, failure = ?, remote_id = ?, \
      progress = ?, updated_at = ?, finished_at = ? WHERE sequence = ? AND state = ?
      """,
      changingValues(task) + [
        .integer(task.updatedAt), SQLValue(task.finishedAt), .integer(task.sequence), .text(state.rawValue),
      ])
    guard changes == 1 else { throw StoreError.unexpectedState(task: task.id, expected: state.rawValue) }
  }

  /// What a user may change of a task; a payload can be large, so it is written only then.
  func updateWishes(_ task: SendTask) throws {
    try execute(
      "UPDATE tasks SET payload = ?, urgency = ?, not_before = ? WHERE sequence = ?",
      [
        SQLValue(task.payload.map(JSONWriter.text)), .text(task.urgency.rawValue), SQLValue(task.notBefore),
        .integer(task.sequence),
      ])
  }

  func update(_ resource: Resource, ofTask sequence: Int64) throws {
    try execute(
      """
      UPDATE resources SET name = ?, source = ?, source_mime = ?, identity = ?, state = ?, export = ?, upload_protocol = ?, \
      upload_state = ?, url = ?, receipt = ?, failure = ?, repeats = ? WHERE task = ? AND position = ?
      """,
      changingValues(resource) + [.integer(sequence), SQLValue(resource.index)])
  }

  private func changingValues(_ task: SendTask) -> [SQLValue] {
    [
      .text(task.state.rawValue), SQLValue(task.attempt), SQLValue(task.failedAttempts), SQLValue(task.nextAttemptAt),
      SQLValue(task.waitingFor?.rawValue), .integer(task.pendingSince), SQLValue(task.deliveriesInDoubt),
      SQLValue(task.cancelRequested), SQLValue(task.hasProgressed), SQLValue(task.failure?.stored),
      SQLValue(task.remoteId), SQLValue(task.progress),
    ]
  }

  private func changingValues(_ resource: Resource) -> [SQLValue] {
    [
      .text(resource.name), .text(resource.source.stored), .text(resource.sourceMime),
      SQLValue(resource.identity?.stored),
      .text(resource.state.rawValue), SQLValue(resource.export?.stored), SQLValue(resource.uploadProtocol),
      SQLValue(resource.uploadState.map(JSONWriter.text)), SQLValue(resource.url), SQLValue(resource.receipt?.text),
      SQLValue(resource.failure?.stored),
      SQLValue(resource.repeats),
    ]
  }
}
