import TaskModel
import TaskStorage

extension Engine {
  /// What a logout did, in tasks.
  public struct LoggedOut: Sendable {
    /// Those that were not over yet.
    public let canceled: Int
    public let removed: Int
  }

  /// Ends everything of an account and forgets its tasks. Work is stopped first, then one commit removes all of them: before
  /// it nothing has happened, and after it no engine knows any of them. What is submitted meanwhile is of the next login.
  /// - Throws: `CancellationError`, the store's error; then the tasks go on.
  public func logout(_ account: String) async throws -> LoggedOut {
    let found = try await store.read { try $0.tasks(ofAccount: account) }
    guard let last = found.last?.sequence else { return LoggedOut(canceled: 0, removed: 0) }
    let ids = found.filter { $0.state != .sent && $0.state != .canceled }.map(\.id)
    for id in ids { hold(id) }
    defer { for id in ids { release(id) } }
    await withTaskGroup(of: Void.self) { group in
      for id in ids { group.addTask { await self.settle(id) } }
    }
    try Task.checkCancellation()
    let (removed, hasAbandoned) = try await store.write { transaction in
      var hasAbandoned = false
      let tasks = try transaction.tasks(ofAccount: account).filter { $0.sequence <= last }
      for task in tasks {
        for state in task.resources.compactMap(\.uploadState) {
          try transaction.abandon(state, destination: task.destination)
          hasAbandoned = true
        }
        try transaction.delete(task)
      }
      return (tasks, hasAbandoned)
    }
    for task in removed { removeFiles(of: task) }
    if hasAbandoned { reaper.wake() }
    return LoggedOut(canceled: removed.count { !$0.state.isFinal }, removed: removed.count)
  }

  /// Ends what runs for a task; a delivery in the air may still come to its end, as in a cancel.
  private func settle(_ id: SendTask.ID) async {
    if let runner = running[id], (try? await requireTask(id))?.state == .delivering { await waitForDelivery(runner) }
    await stopRunner(of: id)
  }
}
