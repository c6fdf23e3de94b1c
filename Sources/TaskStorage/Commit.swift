import SQLite
import TaskModel

/// One transaction of the store, shared by everybody who waited for it. Where a method throws, the whole has to be rolled
/// back; where only one of the waiting can't be helped, that is its result.
final class Commit {
  private let transaction: StoreTransaction
  private var recent: RecentTasks
  private var updates = TaskUpdates()

  init(_ transaction: StoreTransaction, recent: RecentTasks) throws {
    self.transaction = transaction
    self.recent = recent
    try transaction.connection.execute("BEGIN IMMEDIATE")
  }

  /// Runs `body` in a savepoint of its own: if it throws, it has had no effect.
  func write<T>(_ body: (StoreTransaction) throws -> T) throws -> Result<T, any Error> {
    // It may look at anything.
    try writeUpdates()
    let connection = transaction.connection
    try connection.execute("SAVEPOINT one_write")
    let mark = transaction.changes.count
    let result = Result { try body(transaction) }
    if case .failure = result {
      // If SQLite has ended the whole transaction itself, this fails and with it the batch.
      try connection.execute("ROLLBACK TO one_write")
      transaction.forgetChanges(after: mark)
    }
    try connection.execute("RELEASE one_write")
    for change in transaction.changes[mark...] where change.isDeletion { recent.forget(change.taskID) }
    return result
  }

  /// Lets `decide` say what becomes of a task; nil in and out: there is none, nothing does.
  func update<T>(
    _ id: SendTask.ID, _ decide: (SendTask?) throws -> (update: TaskUpdate?, answer: T)
  ) -> Result<T, any Error> {
    Result {
      let old = try updates.latest(id) ?? recent[id] ?? transaction.task(id)
      let (update, answer) = try decide(old)
      if let update, let old { updates.add(update, replacing: old) }
      return answer
    }
  }

  /// - Returns: what there is to tell, and the tasks that are worth remembering.
  func finish() throws -> (changes: [Change], recent: RecentTasks) {
    try writeUpdates()
    try transaction.connection.execute("COMMIT")
    return (transaction.changes, recent)
  }

  private func writeUpdates() throws {
    for task in try updates.write(into: transaction) { recent.note(task) }
  }
}
