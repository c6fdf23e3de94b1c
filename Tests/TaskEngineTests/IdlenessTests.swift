import JSON
import Synchronization
import TaskConfig
import TaskModel
import TaskTestSupport
import Testing

@testable import TaskEngine

/// Counts what it is asked to publish.
private final class Counter: Deliverer {
  private let deliveries = Mutex(0)
  var delivered: Int { deliveries.withLock { $0 } }

  func deliver(_ task: SendTask, mode: DeliveryMode) async throws -> String? {
    deliveries.withLock { $0 += 1 }
    return nil
  }
}

@Suite("When nothing is left to run")
struct IdlenessTests {
  @Test("a task that was submitted before the question is sent before the answer", .timeLimit(.minutes(10)))
  func submittedBefore() async throws {
    let folder = try TemporaryFolder()
    let (nobody, counter) = (Nobody(), Counter())
    let engine = try Engine(
      storePath: folder("taskcenter.db"),
      parts: Engine.Parts(
        config: CurrentConfig(Config()), exporter: nobody, sources: nobody, uploader: nobody, deliverer: counter,
        clock: SystemClock(),
        log: Log(level: .error) { _, _ in }))
    var submission = Submission(kind: .message, resources: [])
    submission.payload = ["text": "hello"]
    _ = try await engine.submit(submission).value()
    let (answers, answer) = AsyncStream<Int>.makeStream()
    engine.whenIdle { answer.yield(counter.delivered) }
    // The engine's loop has not looked at anything yet.
    try await engine.start()
    var iterator = answers.makeAsyncIterator()
    #expect(await iterator.next() == 1)
    await engine.stop()
  }
}
