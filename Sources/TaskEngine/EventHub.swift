import Synchronization
import TaskModel
public import TaskStorage

/// Who wants to hear of changes. Called in order; must not block.
public protocol EventSink: AnyObject, Sendable {
  func taskChanged(_ change: Change, subscription: Int64)
  func taskProgressed(_ report: ProgressReport, subscription: Int64)
}

/// Tells every subscription what was committed, in the order of the commits, and how running work gets on.
public final class EventHub: Sendable {
  private struct Subscription {
    let id: Int64
    let filter: TaskFilter
    /// Milliseconds between two reports of one task.
    let interval: Int64
    weak var sink: (any EventSink)?
    var lastReport: [SendTask.ID: Int64] = [:]
  }

  private struct State {
    var nextID: Int64 = 1
    var subscriptions: [Int64: Subscription] = [:]
    var endings: [SendTask.ID: [AsyncStream<Never>.Continuation]] = [:]
  }

  private let state = Mutex(State())
  /// What was last told of each unfinished task, 0 to 1. Changes and reports come from two threads, each with a progress of a
  /// moment ago; the lock is held while they are told, so that of no task one is told after a higher one.
  private let told = Mutex<[SendTask.ID: Double]>([:])

  /// Must be called on the store's queue, together with reading the snapshot, so that no commit comes between.
  func subscribe(_ filter: TaskFilter, intervalMs: Int64, sink: any EventSink) -> Int64 {
    state.withLock { state in
      let id = state.nextID
      state.nextID += 1
      state.subscriptions[id] = Subscription(id: id, filter: filter, interval: intervalMs, sink: sink)
      return id
    }
  }

  /// - Returns: whether the sink had such a subscription.
  public func unsubscribe(_ id: Int64, sink: any EventSink) -> Bool {
    state.withLock { state in
      guard state.subscriptions[id]?.sink === sink else { return false }
      state.subscriptions[id] = nil
      return true
    }
  }

  public func forget(_ sink: any EventSink) {
    state.withLock { state in
      state.subscriptions = state.subscriptions.filter { $0.value.sink != nil && $0.value.sink !== sink }
    }
  }

  /// On the store's queue, after the commit.
  func publish(_ changes: [Change]) {
    told.withLock { told in
      for change in changes {
        guard let task = change.task else { continue }
        let progress = max(task.progress, told[task.id] ?? 0)
        told[task.id] = change.isDeletion || task.state.isFinal ? nil : progress
        tell(progress > task.progress ? change.telling(progress: progress) : change, of: task)
      }
    }
    finishEndings(of: changes.compactMap { $0.isDeletion || $0.task?.state.isFinal == true ? $0.taskID : nil })
  }

  private func tell(_ change: Change, of task: SendTask) {
    let targets = state.withLock { state in
      state.subscriptions.values.filter { $0.filter.matches(task) }.map { ($0.sink, $0.id) }
    }
    for (sink, id) in targets { sink?.taskChanged(change, subscription: id) }
  }

  /// A report that comes after the task's end is dropped.
  func publish(_ reports: [ProgressReport], now: Int64) {
    told.withLock { told in
      for var report in reports {
        guard let floor = told[report.task.id] else { continue }
        report.progress = max(report.progress, floor)
        told[report.task.id] = report.progress
        tell(report, now: now)
      }
    }
  }

  private func tell(_ report: ProgressReport, now: Int64) {
    let targets = state.withLock { state -> [((any EventSink)?, Int64)] in
      var targets: [((any EventSink)?, Int64)] = []
      for (id, subscription) in state.subscriptions where subscription.filter.matches(report.task) {
        guard now - (subscription.lastReport[report.task.id] ?? .min / 2) >= subscription.interval else { continue }
        state.subscriptions[id]?.lastReport[report.task.id] = now
        targets.append((subscription.sink, id))
      }
      return targets
    }
    for (sink, id) in targets { sink?.taskProgressed(report, subscription: id) }
  }

  // MARK: Waiting for an end

  /// A stream that ends when `id` is final or deleted. Call on the store's queue while it is known not to be.
  func ending(of id: SendTask.ID) -> AsyncStream<Never> {
    let (stream, continuation) = AsyncStream<Never>.makeStream()
    state.withLock { $0.endings[id, default: []].append(continuation) }
    return stream
  }

  private func finishEndings(of ids: [SendTask.ID]) {
    let ended = state.withLock { state in ids.flatMap { state.endings.removeValue(forKey: $0) ?? [] } }
    for continuation in ended { continuation.finish() }
  }
}
