import TaskModel

/// Whose turn it is: the unfinished tasks by lane, as a value. A projection of the store, fed by its changes.
///
/// - In a lane, work runs ahead: up to `window` tasks export and upload at once, in submit order.
/// - Deliveries keep submit order: a lane's next delivery is that of its first task that holds the lane, and only when
///   everything of it is up.
/// - Every lane has its own window, so a long lane never keeps another one waiting here; who gets a slot first is for
///   `SlotQueue` to say.
struct Agenda {
  private struct Entry {
    let sequence: Int64
    let id: SendTask.ID
    var state: TaskState
    var isReady: Bool
    /// When a waiting task is to be looked at again.
    var dueAt: Int64?
  }

  /// Tasks of one lane that may work at once.
  let window: Int
  private var lanes: [LaneID: [Entry]] = [:]
  private var laneOf: [SendTask.ID: LaneID] = [:]

  init(window: Int) { self.window = window }

  var isEmpty: Bool { lanes.isEmpty }
  var knownLanes: [LaneID] { Array(lanes.keys) }

  /// Takes over where a task stands now.
  mutating func update(_ task: SendTask) {
    guard !task.state.isFinal else { return remove(task.id) }
    let lane = task.laneID
    laneOf[task.id] = lane
    let entry = Entry(
      sequence: task.sequence, id: task.id, state: task.state,
      isReady: task.state == .uploading && task.waitingFor == .lane, dueAt: Agenda.dueAt(task))
    var entries = lanes[lane] ?? []
    if let index = entries.firstIndex(where: { $0.id == task.id }) {
      entries[index] = entry
    } else {
      // Almost always the newest; a task that was failed and is retried takes its old place.
      let index = entries.lastIndex { $0.sequence < task.sequence }.map { $0 + 1 } ?? 0
      entries.insert(entry, at: index)
    }
    lanes[lane] = entries
  }

  mutating func remove(_ id: SendTask.ID) {
    guard let lane = laneOf.removeValue(forKey: id) else { return }
    lanes[lane]?.removeAll { $0.id == id }
    if lanes[lane]?.isEmpty == true { lanes[lane] = nil }
  }

  func lane(of id: SendTask.ID) -> LaneID? { laneOf[id] }

  private static func dueAt(_ task: SendTask) -> Int64? {
    switch task.state {
    case .retrying: task.nextAttemptAt
    case .queued: task.notBefore
    default: nil
    }
  }

  // MARK: Questions

  /// Tasks of `lane` whose work may begin.
  func turns(in lane: LaneID, now: Int64) -> [SendTask.ID] {
    let entries = lanes[lane] ?? []
    var free = window - entries.count { ($0.state == .exporting || $0.state == .uploading) && !$0.isReady }
    var turns: [SendTask.ID] = []
    for entry in entries where entry.state == .queued && (entry.dueAt ?? 0) <= now {
      guard free > 0 else { break }
      turns.append(entry.id)
      free -= 1
    }
    return turns
  }

  /// The task of `lane` that may be delivered now.
  func delivery(in lane: LaneID) -> SendTask.ID? {
    guard let head = lanes[lane]?.first(where: { $0.state.holdsLane }), head.isReady else { return nil }
    return head.id
  }

  /// Waiting tasks whose time has come.
  func dueTasks(now: Int64) -> [SendTask.ID] {
    lanes.values.joined().filter { $0.state == .retrying && ($0.dueAt ?? .max) <= now }.map(\.id)
  }

  /// When something has to be looked at again although nobody says anything. May be past: a wait can be over before
  /// anybody got round to setting a timer for it, and nobody else would wake that task.
  /// - Parameter ignored: tasks that somebody else is about to look at.
  func nextDue(now: Int64, except ignored: (SendTask.ID) -> Bool) -> Int64? {
    lanes.values.joined().compactMap { entry in
      guard let dueAt = entry.dueAt, !ignored(entry.id) else { return nil }
      // A queued task that is due has its turn as soon as its lane is scheduled.
      return entry.state == .retrying || dueAt > now ? dueAt : nil
    }.min()
  }

  /// Whether anything runs, or will within `patience` milliseconds, without a user's doing.
  func isBusy(now: Int64, patience: Int64) -> Bool {
    lanes.values.joined().contains { entry in
      switch entry.state {
      case .exporting, .uploading, .delivering: !entry.isReady || isDeliverable(entry.id, now: now, patience: patience)
      case .queued: (entry.dueAt ?? 0) <= now + patience
      // Without a time it waits for a front end, who is then here to keep the engine.
      case .retrying: (entry.dueAt ?? .max) <= now + patience
      case .draft, .paused, .sent, .failed, .canceled: false
      }
    }
  }

  /// A task that is ready waits only as long as the head of its lane does.
  private func isDeliverable(_ id: SendTask.ID, now: Int64, patience: Int64) -> Bool {
    guard let lane = laneOf[id], let head = lanes[lane]?.first(where: { $0.state.holdsLane }) else { return false }
    return head.id == id || (head.dueAt ?? 0) <= now + patience
  }
}
