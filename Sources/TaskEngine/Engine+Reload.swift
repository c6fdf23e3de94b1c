public import TaskConfig
import TaskModel

extension Engine {
  /// Another config, for what happens from now on; attempts under way keep the destination that they began with. It counts
  /// when this returns, and of two calls the later one does.
  public nonisolated func update(_ config: Config) {
    settings.config = config
    status.uploadSlots.setLimit(config.uploads.slots)
    status.exportSlots.setLimit(config.exports.slots, parts: config.exports.picturesPerSlot)
    Task { await noteConfig() }
  }

  private func noteConfig() {
    agenda.window = settings.config.uploads.slots + 1
    scheduleEverything()
  }

  /// Hosts that a dead engine's tasks wait for, because these had asked to be left alone; for how many milliseconds still.
  public nonisolated var heldOrigins: [(origin: String, restMs: Int64)] {
    let now = parts.clock.now()
    return store.inventory.unfinished.compactMap { task in
      guard task.state == .retrying, task.waitingFor == .host, let origin = task.failure?.heldOrigin,
        let until = task.nextAttemptAt
      else { return nil }
      // Not longer than it was, should the clock have been set back meanwhile.
      let restMs = min(until - now, until - task.updatedAt)
      return restMs > 0 ? (origin, restMs) : nil
    }
  }
}
