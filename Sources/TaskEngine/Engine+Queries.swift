public import TaskModel
public import TaskStorage

extension Engine {
  /// - Throws: `EngineError.notFound`.
  public func task(_ id: SendTask.ID) async throws -> SendTask { live(try await requireTask(id)) }

  /// Newest first.
  /// - Parameter before: continues after the task with this sequence.
  public func tasks(
    _ filter: TaskFilter, before: Int64?, limit: Int
  ) async throws -> (tasks: [SendTask], isLastPage: Bool) {
    let page = try await store.read { try $0.page(filter, before: before, limit: limit) }
    return (page.tasks.map(live), page.isLast)
  }

  /// - Throws: `EngineError.notFound`.
  public func history(_ id: SendTask.ID) async throws -> [HistoryEntry] {
    try await store.read { transaction in
      guard let task = try transaction.task(id) else { throw EngineError.notFound(id) }
      return try transaction.history(of: task)
    }
  }

  /// What is saved, with the progress that was told since.
  private func live(_ task: SendTask) -> SendTask {
    var task = task
    if task.state.isRunning { task.progress = max(task.progress, progress.floor(of: task.id)) }
    return task
  }

  /// Returns the task when it is final, or as it is when the time is up.
  /// - Throws: `EngineError.notFound`; `CancellationError`.
  public func wait(for id: SendTask.ID, timeoutMs: Int64?) async throws -> SendTask {
    let hub = hub
    let ending = try await store.read { transaction -> AsyncStream<Never>? in
      guard let task = try transaction.task(id) else { throw EngineError.notFound(id) }
      return task.state.isFinal ? nil : hub.ending(of: id)
    }
    if let ending {
      let clock = parts.clock
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { for await _ in ending {} }
        if let timeoutMs { group.addTask { try await clock.sleep(milliseconds: timeoutMs) } }
        try await group.next()
        group.cancelAll()
      }
      try Task.checkCancellation()
    }
    return try await task(id)
  }

  public struct Subscribed: Sendable {
    public let subscription: Int64
    public let cursor: Int64
    /// The unfinished tasks and the latest finished ones that match; with a valid `since`, none.
    public let tasks: [SendTask]
    /// `since` can't be gone on from, because it is none of this store's or too much has happened; `tasks` is the whole picture.
    public let truncated: Bool
  }

  /// A snapshot and then every change after it, none lost and none doubled: both happen on the store's queue, where no
  /// commit comes between. With `since`, the missed changes go to the sink first.
  public func subscribe(
    _ filter: TaskFilter, since: Int64?, intervalMs: Int64, sink: any EventSink
  ) async throws -> Subscribed {
    let hub = hub
    return try await store.read { transaction in
      let cursor = try transaction.lastCursor()
      let subscription = hub.subscribe(filter, intervalMs: intervalMs, sink: sink)
      // What was missed long ago may be more than a session can take at once.
      if let since, since <= cursor,
        let missed = try transaction.changes(since: since, maxBytes: StoreTransaction.pageBytes)
      {
        for change in missed where filter.matches(replayed: change) {
          sink.taskChanged(change, subscription: subscription)
        }
        return Subscribed(subscription: subscription, cursor: cursor, tasks: [], truncated: false)
      }
      let tasks = try transaction.page(filter, limit: Engine.snapshotLimit).tasks
      return Subscribed(subscription: subscription, cursor: cursor, tasks: tasks, truncated: since != nil)
    }
  }

  static let snapshotLimit = 1_000
}

extension TaskFilter {
  /// A replayed change is known by its JSON only; a deletion by its id only, so it is told to everybody who may care.
  fileprivate func matches(replayed change: Change) -> Bool {
    if let ids, !ids.contains(change.taskID) { return false }
    guard let json = change.json else { return true }
    return (account ?? json["account"]?.string) == json["account"]?.string
      && (kind?.rawValue ?? json["kind"]?.string) == json["kind"]?.string
      && (lane ?? json["lane"]?.string) == json["lane"]?.string
  }
}
