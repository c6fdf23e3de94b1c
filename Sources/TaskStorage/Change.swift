public import JSON
public import TaskModel

/// What was told, or would have been told, to front ends.
public struct Change: Sendable {
  /// Rises with every change of the store.
  public let cursor: Int64
  public let taskID: SendTask.ID
  /// As of this change; nil: the task was deleted.
  public let json: JSONValue?
  /// The same as a value; for a deletion, what was deleted; nil for a change that is replayed.
  public let task: SendTask?
  /// The state before this change; nil for a new task.
  public let oldState: TaskState?

  public var isDeletion: Bool { json == nil }

  /// The same with what front ends were told of its progress meanwhile.
  public func telling(progress: Double) -> Change {
    guard var object = json?.object else { return self }
    object["progress"] = .double(progress)
    return Change(cursor: cursor, taskID: taskID, json: .object(object), task: task, oldState: oldState)
  }
}
