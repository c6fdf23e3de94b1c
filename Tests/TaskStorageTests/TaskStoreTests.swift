import Dispatch
import Foundation
import JSON
import SQLite
import TaskModel
import TaskSchema
import Testing

@testable import TaskStorage

@Suite("The store")
struct TaskStoreTests {
  @Test("a task comes back as it was saved, also after a restart")
  func roundTrip() async throws {
    let folder = try StoreFolder()
    var saved = try await folder.open().write { try $0.insert(sample("a"), contentHash: "h") }
    let store = try folder.open()
    #expect(try await store.read { try $0.task("a") } == saved)

    let old = saved
    var machine = TaskStateMachine(old, policy: RetryPolicy(), now: 43, jitter: 1)
    _ = try machine.handle(.turnCame)
    _ = try machine.handle(.uploadFinished(0, UploadResult(url: "https://x/1", etag: "e", uploadProtocol: "put")))
    saved = machine.task
    let update = TaskUpdate(machine.task, transitions: machine.transitions)
    let new = machine.task
    try await store.update("a") { _ in (update, ()) }
    let reopened = try folder.open()
    #expect(try await reopened.read { try $0.task("a") } == saved)
    let history = try await reopened.read { try $0.history(of: new) }
    #expect(history.map(\.transition.to) == ["exporting", "uploading", "uploaded"])
  }

  @Test("how a failure came about is kept too, for the judgement at the attempt's end; front ends are not told")
  func failures() async throws {
    let folder = try StoreFolder()
    var task = sample("a")
    let failure = Failure(
      .unreachable, "no route", remedy: .retry, resource: 0, httpStatus: 503, retryAfterMs: 5_000, isOffline: true,
      needsFrontEnd: true, outcomeUnknown: true)
    task.resources[0].failure = failure
    let kept = task
    let store = try folder.open()
    _ = try await store.write { try $0.insert(kept, contentHash: "h") }
    #expect(try await store.read { try $0.task("a")?.resources[0].failure } == failure)
    #expect(failure.json["isOffline"] == nil && failure.json["retryAfterMs"] == nil)
  }

  @Test("sources in the store come back with their files, and an open finds which are still owned")
  func sources() async throws {
    let folder = try StoreFolder()
    var task = sample("a")
    task.failure = Failure(
      .unavailable, "503", remedy: .retry, resource: 1, httpStatus: 503, retryAfterMs: 7, heldOrigin: "https://h:443",
      isOffline: true, isUntried: true, outcomeUnknown: true)
    let sources: [Source] = [
      .url("https://h/a?token=1", file: "one"), .kept(path: "/p/\"file\"", file: "two"), .url("https://h/b", file: nil),
      .paths(["/a", "/b"]),
    ]
    task.resources = sources.enumerated().map { index, source in
      Resource(index: index, role: .image, source: source, name: "n", sourceMime: "image/jpeg", identity: nil)
    }
    let saved = try await folder.open().write { [task] in try $0.insert(task, contentHash: "h") }
    let store = try folder.open()
    let read = try await store.read { try $0.task("a") }
    #expect(read?.resources.map(\.source) == sources)
    #expect(read == saved)
    #expect(store.inventory.sourceFiles == ["one", "two"])
  }

  @Test("what runs between commits waits for the one under way and for what is told of it")
  func betweenCommits() async throws {
    let folder = try StoreFolder()
    let store = try folder.open()
    let (told, toldBefore) = (folder.told, AsyncStream<Int>.makeStream())
    let (isInside, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let write = store.enqueueWrite { transaction in
      isInside.signal()
      mayEnd.wait()
      return try transaction.insert(sample("a"), contentHash: "h")
    }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        isInside.wait()
        store.betweenCommits { toldBefore.continuation.yield(told.all.count) }
        mayEnd.signal()
        continuation.resume()
      }
    }
    _ = try await write.value()
    var counts = toldBefore.stream.makeAsyncIterator()
    #expect(await counts.next() == 1)
  }

  @Test("a write that was handed in has its outcome also for a caller who was canceled")
  func canceledWaiter() async throws {
    let store = try StoreFolder().open()
    let mayEnd = DispatchSemaphore(value: 0)
    let write = store.enqueueWrite { transaction in
      mayEnd.wait()
      return try transaction.insert(sample("a"), contentHash: "h").id
    }
    let waiter = Task { try await write.value() }
    waiter.cancel()
    mayEnd.signal()
    #expect(try await waiter.value == "a")
  }

  @Test("writes that share a commit fail one by one, and their changes are told in order")
  func groupCommit() async throws {
    struct Refused: Error {}
    let folder = try StoreFolder()
    let store = try folder.open()
    let results = await withTaskGroup(of: Bool.self) { group in
      for index in 0..<50 {
        group.addTask {
          do {
            try await store.write { transaction in
              _ = try transaction.insert(sample("t\(index)"), contentHash: "h")
              if index % 5 == 0 { throw Refused() }
            }
            return true
          } catch { return false }
        }
      }
      return await group.reduce(into: 0) { count, succeeded in count += succeeded ? 1 : 0 }
    }
    #expect(results == 40)
    #expect(try await store.read { try $0.stateCounts() } == [.queued: 40])
    let cursors = folder.told.cursors
    #expect(cursors.count == 40 && cursors == cursors.sorted())
    #expect(try await store.read { try $0.changes(since: 0)?.map(\.cursor) } == cursors)
  }

  @Test("two tasks of one account can't have the same key")
  func uniqueKey() async throws {
    let store = try StoreFolder().open()
    _ = try await store.write { try $0.insert(sample("a", key: "k"), contentHash: "h") }
    #expect(try await store.read { try $0.submission(account: "me", key: "k")?.id } == "a")
    await #expect(throws: SQLiteError.self) {
      try await store.write { _ = try $0.insert(sample("b", key: "k"), contentHash: "h") }
    }
  }

  @Test("a deleted task leaves only the news of its end")
  func delete() async throws {
    let store = try StoreFolder().open()
    let task = try await store.write { try $0.insert(sample("a"), contentHash: "h") }
    try await store.write { try $0.delete(task) }
    let changes = try #require(try await store.read { try $0.changes(since: 0) })
    #expect(changes.map(\.taskID) == ["a"] && changes[0].json == nil)
    #expect(try await store.read { try $0.exportFiles() }.isEmpty)
  }

  @Test("lists are newest first and page without gaps")
  func pages() async throws {
    let store = try StoreFolder().open()
    for index in 0..<5 {
      _ = try await store.write { try $0.insert(sample("t\(index)", lane: index == 2 ? "x" : "chat"), contentHash: "") }
    }
    var filter = TaskFilter()
    filter.lane = "chat"
    filter.states = [.queued]
    let chat = filter
    let first = try await store.read { try $0.page(chat, limit: 2).tasks }
    let rest = try await store.read { try $0.page(chat, before: first.last?.sequence, limit: 10).tasks }
    #expect((first + rest).map(\.id) == ["t4", "t3", "t1", "t0"])
  }

  @Test("a page is cut short where payloads are large, and what was missed is not told where it is too much")
  func largePayloads() async throws {
    let store = try StoreFolder().open()
    for index in 0..<4 {
      var task = sample("t\(index)")
      task.payload = ["text": .string(String(repeating: "x", count: 9 << 20))]
      let large = task
      _ = try await store.write { try $0.insert(large, contentHash: "") }
    }
    let first = try await store.read { try $0.page(TaskFilter(), limit: 10) }
    #expect(first.tasks.map(\.id) == ["t3", "t2"] && !first.isLast)
    let rest = try await store.read { try $0.page(TaskFilter(), before: first.tasks.last?.sequence, limit: 10) }
    #expect(rest.tasks.map(\.id) == ["t1", "t0"] && rest.isLast)
    #expect(try await store.read { try $0.changes(since: 0, maxBytes: 30 << 20) } == nil)
    #expect(try await store.read { try $0.changes(since: 1, maxBytes: 30 << 20)?.count } == 3)
  }

  @Test("a newer store is refused and left as it is")
  func newerStore() async throws {
    let folder = try StoreFolder()
    _ = try folder.open()
    let connection = try Connection(path: folder.path)
    try connection.execute(script: "PRAGMA user_version = 9999")
    #expect(throws: StoreError.newerVersion(found: 9999, supported: TaskSchema.migrations.count)) { try folder.open() }
  }

  @Test("a store of version 1 is brought to today's with everything in it")
  func migratesFromVersion1() async throws {
    let folder = try StoreFolder()
    do {
      let connection = try Connection(path: folder.path)
      try connection.execute(script: TaskSchema.migrations[0] + "PRAGMA user_version = 1;")
      try connection.execute(
        script: """
          INSERT INTO tasks VALUES (1, 'old', NULL, 'h', 'me', 'message', 'chat', 'local', 'queued', 'fail', 1, 'normal',
            NULL, NULL, 0, 0, NULL, 'slot', 5, 0, 0, 0, NULL, NULL, 0, 5, 5, NULL);
          INSERT INTO resources VALUES (1, 0, 'image', 'a.jpg', '{"path":"/a.jpg"}', 'image/jpeg', NULL, 'uploaded', NULL,
            'put', 'https://cdn/a', '{"md5":"m","mime":"image/jpeg","name":"a.jpg","sha256":"s","size":1,"url":"u","v":1}',
            NULL, 1);
          """)
    }
    let store = try folder.open()
    let task = try #require(try await store.read { try $0.task("old") })
    #expect(task.resources.map(\.url) == ["https://cdn/a"])
    #expect(task.resources[0].repeats == 1 && task.resources[0].derivedFrom == nil)
    #expect(task.resources[0].uploadState == nil)
  }

  @Test("abandoned uploads are remembered until they are forgotten")
  func abandonedUploads() async throws {
    let folder = try StoreFolder()
    let store = try folder.open()
    try await store.write { transaction in
      try transaction.abandon(["uploadId": "a"], destination: "bucket")
      try transaction.abandon("b", destination: "other")
    }
    let found = try await store.read { try $0.abandonedUploads() }
    #expect(found.map(\.state) == [["uploadId": "a"], "b"] && found.map(\.destination) == ["bucket", "other"])
    try await store.write { try $0.forget(found[0]) }
    #expect(try await store.read { try $0.abandonedUploads() } == [found[1]])
  }

  @Test("the CHECK of final states is the machine's")
  func checks() throws {
    let folder = try StoreFolder()
    _ = try folder.open()
    let connection = try Connection(path: folder.path)
    let tables = try connection.query("SELECT sql FROM sqlite_schema WHERE name IN ('tasks', 'resources')") {
      $0.text(0)
    }
    func words(_ column: String) -> Set<String> {
      for table in tables {
        guard let start = table.range(of: "CHECK (\(column) IN (") else { continue }
        let list = table[start.upperBound...].prefix { $0 != ")" }
        return Set(list.split(separator: ",").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " '\n")) })
      }
      return []
    }
    #expect(words("waiting_for") == Set(WaitReason.allCases.map(\.rawValue)))
    #expect(words("kind") == Set(TaskKind.allCases.map(\.rawValue)))
    #expect(words("role") == Set(ResourceRole.allCases.map(\.rawValue)))
    #expect(tables.joined().contains("state IN ('sent', 'failed', 'canceled')) = (finished_at"))
    #expect(Set(TaskState.allCases.filter(\.isFinal).map(\.rawValue)) == ["sent", "failed", "canceled"])
    let lists = tables.map { table -> Set<String> in
      guard let start = table.range(of: "CHECK (state IN (") else { return [] }
      let list = table[start.upperBound...].prefix { $0 != ")" }
      return Set(list.split(separator: ",").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " '\n")) })
    }
    #expect(Set(lists) == [Set(TaskState.allCases.map(\.rawValue)), Set(ResourceState.allCases.map(\.rawValue))])
  }
}
