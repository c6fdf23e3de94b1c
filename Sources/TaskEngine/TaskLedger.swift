import TaskConfig
import TaskModel
import TaskStorage

/// The interpreter's middle: it takes the task as the store has it, lets the machine decide what one event makes of it, saves
/// the new state with its evidence in one transaction, and hands back what is to be done. There is no other way to change a
/// task.
struct TaskLedger: Sendable {
  struct Outcome: Sendable {
    let task: SendTask
    let actions: [TaskAction]
  }

  let store: TaskStore
  let config: CurrentConfig
  let time: EngineTime
  let reaper: UploadReaper
  let progress: ProgressBoard

  /// - Throws: `EngineError.notFound`, `EngineError.invalidState`, or the store's error, with which nothing has happened.
  @discardableResult
  func apply(_ event: TaskEvent, to id: SendTask.ID) async throws -> Outcome {
    let decide = decision(event, id)
    let (outcome, hasAbandoned) = try await store.update(id) { old in
      let (update, outcome) = try decide(old)
      return (update, (outcome, update?.abandoned.isEmpty == false))
    }
    if hasAbandoned { reaper.wake() }
    return outcome
  }

  /// For what promises nothing, such as the start of a step: nobody waits for it, and it is saved before what follows it.
  func note(_ event: TaskEvent, to id: SendTask.ID) {
    let decide = decision(event, id)
    store.enqueueUpdate(id) { try decide($0).update }
  }

  private func decision(
    _ event: TaskEvent, _ id: SendTask.ID
  ) -> @Sendable (SendTask?) throws -> (update: TaskUpdate?, outcome: Outcome) {
    let (policy, time, now, progress) = (config.value.retry, time, time.now().wall, progress)
    let jitter = Double.random(in: Backoff.jitterRange)
    return { old in
      guard var old else { throw EngineError.notFound(id) }
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
      let isNews = unchanged != old || !machine.abandoned.isEmpty
      let update = TaskUpdate(machine.task, transitions: machine.transitions, abandoned: machine.abandoned)
      return (isNews ? update : nil, Outcome(task: machine.task, actions: actions))
    }
  }
}
