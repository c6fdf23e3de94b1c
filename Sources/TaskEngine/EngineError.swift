public import TaskModel

/// What a caller of the engine did, or wants, that can't be.
public enum EngineError: Error, Sendable, Equatable {
  case notFound(SendTask.ID)
  /// The key is another submission's; with that task's id.
  case keyConflict(SendTask.ID)
  /// The lane takes one task at a time; with the task that is on its way.
  case laneBusy(SendTask.ID)
  case invalidState(TaskState, String)
  /// A source that is bad already at submit; nothing was stored.
  case invalidSource(Failure, pointer: String)
  /// A task of a shape that its kind does not have.
  case invalidSubmission(pointer: String, message: String)
  case shuttingDown
}
