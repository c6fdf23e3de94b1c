import JSON
import Synchronization
import TaskConfig
import TaskModel
import TaskStorage
import TaskTestSupport
import Testing

@testable import TaskEngine

/// Makes files, and has the store forget the task meanwhile, so that what was made can't be saved.
private final class ForgetfulExporter: Exporter {
  let store: TaskStore
  private let made = Mutex<Set<String>>([])
  private let removed = Mutex<Set<String>>([])
  var madeFiles: Set<String> { made.withLock { $0 } }
  var removedFiles: Set<String> { removed.withLock { $0 } }

  init(_ store: TaskStore) { self.store = store }

  func export(
    _ resource: Resource, of task: SendTask, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> ExportedFile {
    try await store.write { if let task = try $0.task(task.id) { try $0.delete(task) } }
    made.withLock { _ = $0.insert("file\(resource.index)") }
    return ExportedFile(
      file: "file\(resource.index)", mime: "image/jpeg", size: 1, md5: "m", sha256: "s", width: nil, height: nil,
      durationMs: nil, rung: nil)
  }

  func plan(_ resource: Resource, of task: SendTask) async throws -> PlannedExport { throw CancellationError() }
  func isIntact(_ file: ExportedFile) -> Bool { true }
  func remove(_ file: ExportedFile) { removed.withLock { _ = $0.insert(file.file) } }
  func sweep(keeping files: [ExportedFile]) {}
}

@Suite("The runner")
struct TaskRunnerTests {
  @Test("what was made and can't be saved is removed, of all resources", .timeLimit(.minutes(10)))
  func unsavedFiles() async throws {
    let folder = try TemporaryFolder()
    let store = try TaskStore(path: folder("db"), clock: { 0 }, observer: { _ in })
    let resources = (0..<3).map {
      Resource(
        index: $0, role: .image, source: .path("/p/\($0).jpg"), name: "\($0).jpg", sourceMime: "image/jpeg",
        identity: nil)
    }
    let task = SendTask(
      id: "a", key: nil, account: "me", kind: .message, lane: "chat", destination: "local", state: .queued,
      urgency: .normal, notBefore: nil, payload: nil, resources: resources, createdAt: 0)
    _ = try await store.write { try $0.insert(task, contentHash: "h") }

    let (nobody, exporter, progress) = (Nobody(), ForgetfulExporter(store), ProgressBoard(onDirty: {}))
    let reaper = UploadReaper(
      store: store, uploader: nobody, clock: nobody, backoff: RetryPolicy().backoff, log: Log(level: .error) { _, _ in }
    )
    let ledger = TaskLedger(
      store: store, config: CurrentConfig(Config()), time: EngineTime(nobody), reaper: reaper, progress: progress)
    let runner = TaskRunner(
      ledger: ledger, exporter: exporter, sources: nobody, uploader: nobody, deliverer: nobody,
      exportSlots: Slots(limit: 3), uploadSlots: Slots(limit: 3), fetchSlots: Slots(limit: 1), progress: progress)
    await #expect(throws: EngineError.self) { try await runner.work("a") }
    // One that had not begun when the first could not be saved was not made.
    #expect(!exporter.removedFiles.isEmpty)
    #expect(exporter.removedFiles == exporter.madeFiles)
  }
}
