import TaskConfig
import TaskModel

extension Engine {
  /// Another config counts from now on; attempts under way keep the destination that they began with.
  public nonisolated func configChanged() {
    let config = parts.config.value
    status.uploadSlots.setLimit(config.uploads.slots)
    status.exportSlots.setLimit(config.exports.slots, parts: config.exports.picturesPerSlot)
    Task { await noteConfig() }
  }

  private func noteConfig() {
    agenda.window = parts.config.value.uploads.slots + 1
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
