import JSON
import Synchronization
import TaskModel
import TaskStorage
import TaskTestSupport
import Testing

@testable import TaskEngine

/// A front end that writes down how far it was told a task is.
private final class Listener: EventSink {
  private let values = Mutex<[Double]>([])
  var told: [Double] { values.withLock { $0 } }

  func taskChanged(_ change: Change, subscription: Int64) { note(change.json?["progress"]?.double ?? -1) }
  func taskProgressed(_ report: ProgressReport, subscription: Int64) { note(report.progress) }
  private func note(_ value: Double) { values.withLock { $0.append(value) } }
}

@Suite("What front ends are told of progress")
struct EventHubTests {
  private let task = SendTask(
    id: "t", account: "a", kind: .message, lane: "chat", destination: "local", state: .queued, urgency: .normal,
    resources: [], createdAt: 0)

  /// The change that a commit with this progress makes.
  private func change(_ progress: Double, _ state: TaskState = .uploading) async throws -> Change {
    let folder = try TemporaryFolder()
    let changes = Mutex<[Change]>([])
    let store = try TaskStore(path: folder("db"), clock: { 0 }) { new in changes.withLock { $0 += new } }
    var task = task
    task.state = state
    task.progress = progress
    task.finishedAt = state.isFinal ? 1 : nil
    let inserted = task
    _ = try await store.write { try $0.insert(inserted, contentHash: "") }
    return try #require(changes.withLock { $0.first })
  }

  private func report(_ progress: Double) -> ProgressReport {
    ProgressReport(task, running: [:], bytes: [:], floor: progress)
  }

  @Test(
    "a commit that was decided before a report and ends after it does not fall behind it, nor a report behind a commit")
  func neverFalls() async throws {
    let hub = EventHub()
    let listener = Listener()
    _ = hub.subscribe(TaskFilter(), intervalMs: 0, sink: listener)
    hub.publish([try await change(0.1)])
    hub.publish([report(0.3)], now: 1)
    hub.publish([try await change(0.2)])
    hub.publish([try await change(0.5)])
    hub.publish([report(0.4)], now: 2)
    hub.publish([try await change(1, .sent)])
    hub.publish([report(0.9)], now: 3)
    #expect(listener.told == [0.1, 0.3, 0.3, 0.5, 0.5, 1])
  }
}
