public import TaskModel
import TaskStorage

/// The interpreter's middle: one event becomes one transaction. It loads the task, lets the machine decide, saves the new
/// state with its evidence, and hands back what is to be done. There is no other way to change a task.
public struct TaskLedger: Sendable {
  public struct Outcome: Sendable {
    public let task: SendTask
    public let actions: [TaskAction]
  }

  let store: TaskStore
  let settings: EngineSettings
  let time: EngineTime
  let reaper: UploadReaper
  let progress: ProgressBoard

  /// - Throws: `EngineError.notFound`, `EngineError.invalidState`, or the store's error, with which nothing has happened.
  @discardableResult
  public func apply(_ event: TaskEvent, to id: SendTask.ID) async throws -> Outcome {
    let (policy, time, now, progress) = (settings.retry, time, time.now().wall, progress)
    let jitter = Double.random(in: Backoff.jitterRange)
    let (outcome, hasAbandoned) = try await store.write { transaction in
      guard var old = try transaction.task(id) else { throw EngineError.notFound(id) }
      // What front ends were told while it ran is the least that they are told now.
      old.progress = max(old.progress, progress.floor(of: id))
      var machine = TaskStateMachine(
        old, policy: policy, now: now, jitter: jitter, pendingMs: time.elapsed(since: old.pendingSince))
      let actions: [TaskAction]
      do {
        actions = try machine.handle(event)
      } catch let error as InvalidTransition {
        throw EngineError.invalidState(error.state, error.event)
      }
      var unchanged = machine.task
      unchanged.updatedAt = old.updatedAt
      // An event that meant nothing any more is no news.
      if unchanged != old { try transaction.save(machine.task, replacing: old, transitions: machine.transitions) }
      for state in machine.abandoned { try transaction.abandon(state, destination: old.destination) }
      return (Outcome(task: machine.task, actions: actions), !machine.abandoned.isEmpty)
    }
    if hasAbandoned { reaper.wake() }
    return outcome
  }
}
