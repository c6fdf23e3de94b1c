import JSON
import Synchronization
import TaskConfig
import TaskModel
import TaskTestSupport
import Testing

@testable import TaskEngine

/// A world without files and servers: what needs none is delivered, and counted.
private final class EmptyWorld: Exporter, SourceKeeper, Uploader, UploadSession, Deliverer {
  private let deliveries = Mutex(0)
  var delivered: Int { deliveries.withLock { $0 } }

  func deliver(_ task: SendTask, mode: DeliveryMode) async throws -> String? {
    deliveries.withLock { $0 += 1 }
    return nil
  }

  func export(
    _ resource: Resource, of task: SendTask, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> ExportedFile { throw CancellationError() }
  func plan(_ resource: Resource, of task: SendTask) async throws -> PlannedExport { throw CancellationError() }
  func isIntact(_ file: ExportedFile) -> Bool { false }
  func remove(_ file: ExportedFile) {}
  func sweep(keeping files: [ExportedFile]) {}

  func fetch(_ resource: Resource, of task: SendTask) async throws -> SourceRefresh { throw CancellationError() }
  func copy(_ path: String) async throws -> SourceRefresh { throw CancellationError() }
  func has(_ file: String) -> Bool { false }
  func remove(_ file: String) {}
  func forget(_ task: SendTask) {}
  func sweep(keeping files: Set<String>, tasks: Set<SendTask.ID>) {}

  func session(for task: SendTask) throws -> any UploadSession { self }
  func abandon(_ state: JSONValue, destination: String) async throws {}
  func note(_ task: SendTask) async {}
  func upload(
    _ resource: Resource, of task: SendTask, memory: any UploadMemory, progress: @escaping @Sendable (Int64) -> Void
  ) async throws -> UploadResult { throw CancellationError() }
}

@Suite("When nothing is left to run")
struct IdlenessTests {
  @Test("a task that was submitted before the question is sent before the answer", .timeLimit(.minutes(10)))
  func submittedBefore() async throws {
    let folder = try TemporaryFolder()
    let world = EmptyWorld()
    let engine = try Engine(
      storePath: folder("taskcenter.db"),
      parts: Engine.Parts(
        config: CurrentConfig(Config()), exporter: world, sources: world, uploader: world, deliverer: world,
        clock: SystemClock(),
        log: Log(level: .error) { _, _ in }))
    var submission = Submission(kind: .message, resources: [])
    submission.payload = ["text": "hello"]
    _ = try await engine.submit(submission).value()
    let (answers, answer) = AsyncStream<Int>.makeStream()
    engine.whenIdle { answer.yield(world.delivered) }
    // The engine's loop has not looked at anything yet.
    try await engine.start()
    var iterator = answers.makeAsyncIterator()
    #expect(await iterator.next() == 1)
    await engine.stop()
  }
}
