import SQLite
import TaskModel
import Testing

@testable import TaskStorage

/// What one event makes of a task, as the ledger decides it.
private func decision(
  _ event: TaskEvent
) -> @Sendable (SendTask?) throws -> (update: TaskUpdate?, answer: SendTask) {
  { old in
    guard let old else { throw StoreError.unexpectedState(task: "none", expected: "any") }
    var machine = TaskStateMachine(old, policy: RetryPolicy(), now: 50, jitter: 1)
    _ = try machine.handle(event)
    return (TaskUpdate(machine.task, transitions: machine.transitions, abandoned: machine.abandoned), machine.task)
  }
}

extension TaskStore {
  /// Runs `body` while the store does nothing else, so that what it hands in shares a commit, and waits for that.
  fileprivate func whileBusy(_ body: @escaping @Sendable () -> Void) async throws {
    try read { _ in body() }
    try await write { _ in }
  }
}

@Suite("Updates of tasks")
struct UpdateTests {
  @Test("events that share a commit are one row and one change, and each is in the history")
  func sharedCommit() async throws {
    let folder = try StoreFolder()
    let store = try folder.open()
    _ = try await store.write { try $0.insert(sample("a"), contentHash: "h") }
    _ = try await store.write { try $0.insert(sample("b"), contentHash: "h") }
    try await store.whileBusy {
      for event in [TaskEvent.turnCame, .uploadStarted(0)] {
        store.enqueueUpdate("a") { try decision(event)($0).update }
      }
      store.enqueueUpdate("b") { try decision(.pause)($0).update }
      store.enqueueUpdate("a") { try decision(.pause)($0).update }
    }
    let tasks = try await store.read { transaction in try ["a", "b"].map { try transaction.task($0) } }
    #expect(tasks.map { $0?.state } == [.paused, .paused])
    let told = folder.told.all.dropFirst(2)
    #expect(told.map(\.taskID) == ["b", "a"])
    #expect(told.map(\.oldState) == [.queued, .queued] && told.map { $0.task?.state } == [.paused, .paused])
    let history = try await store.read { try $0.history(of: try #require(tasks[0])) }
    #expect(history.map(\.transition.to) == ["exporting", "uploading", "uploading", "paused", "exported"])
    #expect(try await store.read { try $0.changes(since: 2)?.map(\.json?["state"]) } == ["paused", "paused"])
  }

  @Test("one that can't be has no effect, and the others of its commit have theirs")
  func refusals() async throws {
    let folder = try StoreFolder()
    let store = try folder.open()
    _ = try await store.write { try $0.insert(sample("a"), contentHash: "h") }
    let done = await withTaskGroup(of: Bool.self) { group in
      for (id, event) in [("a", TaskEvent.start), ("nobody", .pause), ("a", .pause), ("a", .start)] {
        group.addTask { (try? await store.update(id, by: decision(event))) != nil }
      }
      return await group.reduce(into: 0) { count, isDone in count += isDone ? 1 : 0 }
    }
    #expect(done == 1)
    #expect(try await store.read { try $0.task("a")?.state } == .paused)
    #expect(folder.told.all.map { $0.task?.state } == [.queued, .paused])
  }

  @Test("whatever happens to a task, the next event finds what the store has")
  func agreesWithTheRows() async throws {
    let folder = try StoreFolder()
    let store = try folder.open()
    var task = sample("a")
    task.resources[0].export = nil
    task.resources[0].state = .pending
    _ = try await store.write { [task] in try $0.insert(task, contentHash: "h") }
    var random = SystemRandomNumberGenerator()
    let failure = Failure(
      .unavailable, "503", remedy: .retry, resource: 0, httpStatus: 503, retryAfterMs: 9, heldOrigin: "https://h:443",
      isOffline: true, isUntried: true, needsFrontEnd: true, outcomeUnknown: true)
    var progressed = failure
    progressed.madeProgress = true
    let export = ExportedFile(file: "f", mime: "image/jpeg", size: 1, md5: "m", sha256: "s", blurhash: "L", key: "k")
    let events: [TaskEvent] = [
      .turnCame, .turnCame, .exportStarted(0), .exportFinished(0, export), .exportLost(0), .uploadStarted(0),
      .uploadSaved(0, ["uploadId": "u", "n": 7]), .uploadDiscarded(0), .stepFailed(0, failure),
      .stepFailed(0, progressed), .workEnded, .wake, .rescued, .pause, .resume, .deliveryStarted,
      .deliveryFailed(failure), .uploadFinished(0, UploadResult(url: "u", etag: nil, uploadProtocol: "put")),
    ]
    var moves = 0
    for _ in 0..<400 {
      let event = events.randomElement(using: &random) ?? .wake
      guard let now = try? await store.update("a", by: decision(event)) else { continue }
      moves += 1
      #expect(try await store.read { try $0.task("a") } == now, "after \(event)")
    }
    #expect(moves > 100)
  }

  @Test("what somebody else wrote into the file is never overwritten; the next event sees it")
  func strangers() async throws {
    let folder = try StoreFolder()
    let store = try folder.open()
    _ = try await store.write { try $0.insert(sample("a"), contentHash: "h") }
    try await store.update("a") { (try decision(.turnCame)($0).update, ()) }
    try Connection(path: folder.path).execute("UPDATE tasks SET state = 'paused'")
    await #expect(throws: StoreError.unexpectedState(task: "a", expected: "uploading")) {
      _ = try await store.update("a", by: decision(.workEnded))
    }
    #expect(try await store.read { try $0.lastCursor() } == 2)
    #expect(try await store.update("a", by: decision(.resume)).state == .queued)
  }

  @Test("a task that was deleted is gone for the next event too")
  func deletion() async throws {
    let store = try StoreFolder().open()
    let task = try await store.write { try $0.insert(sample("a"), contentHash: "h") }
    try await store.update("a") { (try decision(.turnCame)($0).update, ()) }
    try await store.write { try $0.delete(task) }
    #expect(try await store.update("a") { (nil, $0 == nil) })
  }
}
