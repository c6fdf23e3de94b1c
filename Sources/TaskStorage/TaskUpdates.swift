public import JSON
import SQLite
public import TaskModel

/// What one event makes of a task: its state and its evidence, which are saved together.
public struct TaskUpdate: Sendable {
  public let task: SendTask
  public let transitions: [Transition]
  /// What uploads had saved that nobody will finish.
  public let abandoned: [JSONValue]

  public init(_ task: SendTask, transitions: [Transition], abandoned: [JSONValue] = []) {
    self.task = task
    self.transitions = transitions
    self.abandoned = abandoned
  }
}

/// Tasks as the commit that is being made will leave them. Several events of one task become one row and are told as one
/// change; the history keeps each of them.
struct TaskUpdates {
  private struct Entry {
    /// As the store has it.
    let old: SendTask
    var updates: [TaskUpdate]
  }

  private var entries: [SendTask.ID: Entry] = [:]
  /// By the latest event of each.
  private var order: [SendTask.ID] = []

  func latest(_ id: SendTask.ID) -> SendTask? { entries[id]?.updates.last?.task }

  mutating func add(_ update: TaskUpdate, replacing old: SendTask) {
    let id = old.id
    order.removeAll { $0 == id }
    order.append(id)
    entries[id, default: Entry(old: old, updates: [])].updates.append(update)
  }

  /// - Returns: the tasks as they are now.
  /// - Throws: `StoreError.unexpectedState` where the store does not say what it said when the task was read.
  mutating func write(into transaction: StoreTransaction) throws -> [SendTask] {
    defer { self = TaskUpdates() }
    return try order.compactMap { entries[$0] }.map { entry in
      try transaction.save(entry.updates, replacing: entry.old)
    }
  }
}

extension StoreTransaction {
  fileprivate func save(_ updates: [TaskUpdate], replacing old: SendTask) throws -> SendTask {
    let task = updates.last?.task ?? old
    try connection.update(task, expecting: old.state)
    if task.payload != old.payload || task.urgency != old.urgency || task.notBefore != old.notBefore {
      try connection.updateWishes(task)
    }
    for (resource, oldResource) in zip(task.resources, old.resources) where resource != oldResource {
      try connection.update(resource, ofTask: task.sequence)
    }
    for update in updates {
      for transition in update.transitions { try add(transition, of: update.task) }
      for state in update.abandoned { try abandon(state, destination: old.destination) }
    }
    try tell(task, from: old.state)
    return task
  }

  private func add(_ transition: Transition, of task: SendTask) throws {
    try connection.execute(
      "INSERT INTO history (task, at, attempt, position, from_state, to_state, failure) VALUES (?, ?, ?, ?, ?, ?, ?)",
      [
        .integer(task.sequence), .integer(task.updatedAt), SQLValue(task.attempt), SQLValue(transition.resource),
        .text(transition.from), .text(transition.to), SQLValue(transition.failure?.stored),
      ])
  }
}
