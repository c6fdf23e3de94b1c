import JSON
import SQLite
import TaskConfig
import TaskModel
import TaskStorage
import TaskTestSupport
import Testing

@testable import TaskEngine

/// Publishes by what a test says, and tells how often it was asked.
private final class Publisher: Deliverer {
  typealias Outcome = @Sendable (Int) async throws -> String?
  private let outcome: Outcome
  private let count = Counter()
  let asked: AsyncStream<Int>
  private let ask: AsyncStream<Int>.Continuation

  init(_ outcome: @escaping Outcome) {
    self.outcome = outcome
    (asked, ask) = AsyncStream<Int>.makeStream()
  }

  func deliver(_ task: SendTask, mode: DeliveryMode) async throws -> String? {
    let number = await count.next()
    ask.yield(number)
    return try await outcome(number)
  }
}

private actor Counter {
  private var value = 0
  func next() -> Int {
    value += 1
    return value
  }
}

private actor Box {
  private var engine: Engine?
  func set(_ engine: Engine) { self.engine = engine }
  func frontEndComes() async { await engine?.frontEndAttached() }
}

private let nobodyThere = Failure(.frontEndAbsent, "nobody", remedy: .retry, needsFrontEnd: true)

@Suite("No task is left waiting for what has come already", .timeLimit(.minutes(10)))
struct LostWakesTests {
  let folder: TemporaryFolder
  var path: String { folder("db") }

  init() throws { folder = try TemporaryFolder() }

  private func start(_ publisher: Publisher) async throws -> Engine {
    var config = Config()
    config.retry.networkProbeMs = 10
    let nobody = Nobody()
    let engine = try Engine(
      storePath: path,
      parts: Engine.Parts(
        config: CurrentConfig(config), exporter: nobody, sources: nobody, uploader: nobody, deliverer: publisher,
        clock: SystemClock(),
        log: Log(level: .error) { _, _ in }))
    await engine.start()
    return engine
  }

  private func submit(_ engine: Engine) async throws -> SendTask.ID {
    var submission = Submission(kind: .message, resources: [])
    submission.payload = ["text": "hello"]
    return try await engine.submit(submission).value().task.id
  }

  /// As a full disk would: every commit that does this fails.
  private func refuse(_ condition: String) throws -> Connection {
    let connection = try Connection(path: path)
    connection.setBusyTimeout(milliseconds: 10_000)
    try connection.execute(
      "CREATE TRIGGER refuse BEFORE UPDATE ON tasks WHEN \(condition) BEGIN SELECT RAISE(ABORT, 'full'); END")
    return connection
  }

  @Test("a front end that comes while it is being said that nobody is there")
  func arrivalMeanwhile() async throws {
    let box = Box()
    let engine = try await start(
      Publisher { number in
        guard number == 1 else { return "post" }
        await box.frontEndComes()
        throw nobodyThere
      })
    await box.set(engine)
    let task = try await engine.wait(for: try await submit(engine), timeoutMs: nil)
    #expect(task.state == .sent)
    await engine.stop()
  }

  @Test("a front end that comes while the store can't be written")
  func arrivalAtFullDisk() async throws {
    let publisher = Publisher { number in
      guard number == 1 else { return "post" }
      throw nobodyThere
    }
    let engine = try await start(publisher)
    let id = try await submit(engine)
    while try await engine.task(id).waitingFor != .frontEnd { await Swift.Task.yield() }
    let disk = try refuse("NEW.state = 'queued'")
    await engine.frontEndAttached()
    #expect(try await engine.task(id).state == .retrying)
    try disk.execute("DROP TRIGGER refuse")
    #expect(try await engine.wait(for: id, timeoutMs: nil).state == .sent)
    await engine.stop()
  }

  @Test("a task whose cancel could not be saved goes on")
  func unsavedCancel() async throws {
    let publisher = Publisher { number in
      guard number == 1 else { return "post" }
      try await Swift.Task.sleep(for: .seconds(3600))
      return nil
    }
    let engine = try await start(publisher)
    let id = try await submit(engine)
    var asked = publisher.asked.makeAsyncIterator()
    #expect(await asked.next() == 1)
    let disk = try refuse("NEW.state IN ('canceled', 'failed')")
    await #expect(throws: (any Error).self) {
      async let canceled = engine.cancel(id)
      while try await !engine.task(id).cancelRequested { await Swift.Task.yield() }
      await engine.running[id]?.cancel()
      _ = try await canceled
    }
    try disk.execute("DROP TRIGGER refuse")
    #expect(try await engine.wait(for: id, timeoutMs: nil).failure?.code == .deliveryUnknown)
    await engine.stop()
  }

  @Test("what a dead engine left while the store can't be written")
  func rescueAtFullDisk() async throws {
    let hanging = Publisher { _ in
      try await Swift.Task.sleep(for: .seconds(3600))
      return nil
    }
    let dead = try await start(hanging)
    let id = try await submit(dead)
    var asked = hanging.asked.makeAsyncIterator()
    #expect(await asked.next() == 1)
    await dead.stop()
    let disk = try refuse("NEW.state = 'queued'")
    let engine = try await start(Publisher { _ in "post" })
    #expect(try await engine.task(id).state == .delivering)
    try disk.execute("DROP TRIGGER refuse")
    #expect(try await engine.wait(for: id, timeoutMs: nil).state == .sent)
    await engine.stop()
  }
}
