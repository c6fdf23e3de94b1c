import Synchronization
public import TaskModel
import TaskStorage

/// The numbers of `engine/status`, readable from any thread without waiting for anybody.
public final class StatusBoard: Sendable {
  private struct State {
    var counts: [TaskState: Int] = [:]
    var notices: [String] = []
    var isOnline = true

    mutating func count(_ task: TaskState, _ step: Int) {
      let count = (counts[task] ?? 0) + step
      counts[task] = count > 0 ? count : nil
    }
  }

  private let state = Mutex(State())
  let uploadSlots: Slots
  let exportSlots: Slots

  init(uploadSlots: Slots, exportSlots: Slots) {
    self.uploadSlots = uploadSlots
    self.exportSlots = exportSlots
  }

  public var uploads: (used: Int, limit: Int) { uploadSlots.usage }
  public var exports: (used: Int, limit: Int) { exportSlots.usage }
  /// How many tasks there are in each state; states without a task are absent.
  public var counts: [TaskState: Int] { state.withLock { $0.counts } }
  public var notices: [String] { state.withLock { $0.notices } }
  /// What the last network step, or the front end, said.
  public var isOnline: Bool { state.withLock { $0.isOnline } }

  /// Something that people should see although nobody asked.
  public func add(notice: String) { state.withLock { $0.notices.append(notice) } }
  /// It holds no more.
  public func remove(notice: String) { state.withLock { state in state.notices.removeAll { $0 == notice } } }

  func begin(with counts: [TaskState: Int]) { state.withLock { $0.counts = counts } }
  func setOnline(_ isOnline: Bool) { state.withLock { $0.isOnline = isOnline } }

  func note(_ changes: [Change]) {
    state.withLock { state in
      for change in changes {
        if let old = change.oldState { state.count(old, -1) }
        guard let task = change.task, !change.isDeletion else { continue }
        state.count(task.state, 1)
        if task.state == .retrying { state.isOnline = task.waitingFor != .network }
        if task.state == .sent { state.isOnline = true }
      }
    }
  }
}
