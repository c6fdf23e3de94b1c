import TaskModel
import TaskStorage

// Startup is a state, not a special case: rescue what a dead engine left, sweep its work files, put everything unfinished
// on the agenda, then open the door. Every task that is running in the store at this moment is an orphan, exactly: the
// store's lock is ours, and nothing has been started yet.

extension Engine {
  /// Takes up what is in the store and begins to work.
  public func start() async {
    let found = store.inventory
    parts.exporter.sweep(keeping: found.exportFiles)
    for task in found.unfinished { note(task) }
    let orphans = found.unfinished.filter { $0.state.isRunning }
    // On a full disk one stays as it is, and nothing of it begins, until it can be saved.
    var rescued = 0
    for task in orphans where await tell(.rescued, to: task.id) { rescued += 1 }
    if rescued > 0 { parts.log(.info, "rescued \(rescued) tasks that a dead engine left") }
    hasStarted = true
    Task { await runLoop() }
    scheduleEverything()
    reaper.wake()
    Task { await pruneFinished() }
  }

  /// Ends all work at a safe point and saves. Running tasks stay as they are in the store; the next start rescues them.
  public func stop() async {
    isStopping = true
    timer?.cancel()
    let runners = Array(running.values)
    for runner in runners { runner.cancel() }
    for runner in runners { await runner.value }
    await reaper.stop()
    inputs.finish()
  }

  private static let pruneBatch = 100

  /// Forgets what ended long ago.
  private func pruneFinished() async {
    let age = Int64(parts.config.value.retention.finishedDays) * 86_400_000
    let limit = parts.clock.now() - age
    do {
      while !isStopping {
        let old = try await store.read { try $0.finishedTasks(before: limit, limit: Engine.pruneBatch) }
        if old.isEmpty { return }
        try await store.write { transaction in
          for task in old { try transaction.delete(task) }
        }
        for task in old { removeFiles(of: task) }
      }
    } catch {
      parts.log(.warning, "could not prune finished tasks: \(error)")
    }
  }

  func removeFiles(of task: SendTask) {
    parts.sources.forget(task)
    for resource in task.resources {
      if let file = resource.export, !file.isRemoved { parts.exporter.remove(file) }
      if let file = resource.source.file { parts.sources.remove(file) }
    }
  }
}
