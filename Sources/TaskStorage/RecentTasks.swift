import TaskModel

/// Running tasks as they lie in the store, so that none is read anew for each of its events. The store has one writer, so
/// what was written is what is there.
struct RecentTasks {
  /// More than run at once, as a rule.
  private static let limit = 64
  private var tasks: [SendTask.ID: SendTask] = [:]

  subscript(id: SendTask.ID) -> SendTask? { tasks[id] }

  mutating func note(_ task: SendTask) {
    guard task.state.isRunning else { return forget(task.id) }
    if tasks.count >= Self.limit, tasks[task.id] == nil { forgetAll() }
    tasks[task.id] = task
  }

  mutating func forget(_ id: SendTask.ID) { tasks[id] = nil }
  mutating func forgetAll() { tasks = [:] }
}
