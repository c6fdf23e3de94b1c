import TaskModel
import Testing

@Suite("Waits and hosts in the state machine")
struct WaitTests {
  private let held = Failure(
    .unavailable, "left alone", remedy: .retry, retryAfterMs: 30_000, heldOrigin: "https://h:443", isUntried: true)
  private let asked = Failure(.unavailable, "429", remedy: .retry, retryAfterMs: 30_000, heldOrigin: "https://h:443")

  private func fail(_ bench: inout Bench, _ failure: Failure) throws {
    try bench.tell(.turnCame, .exportFinished(0, Bench.file(0)), .stepFailed(0, failure), .workEnded)
  }

  @Test("a host that asks to be left alone is obeyed at once, without repeats")
  func obeyed() throws {
    var bench = Bench(resources: 1)
    try fail(&bench, asked)
    #expect(bench.task.waitingFor == .host)
    #expect(bench.task.nextAttemptAt == bench.now + 30_000)
    #expect(bench.task.failedAttempts == 1)
    #expect(bench.task.failure?.heldOrigin == "https://h:443")
  }

  @Test("being offline uses up no attempt, until the task expires")
  func offline() throws {
    var bench = Bench(resources: 1)
    for _ in 0..<20 {
      try bench.tell(.turnCame, .stepFailed(0, noNetwork), .workEnded)
      #expect(bench.task.waitingFor == .network && bench.task.failedAttempts == 0)
      try bench.tell(.wake)
    }
    bench.now += bench.policy.expireAfterMs
    try bench.tell(.turnCame, .stepFailed(0, noNetwork), .workEnded)
    #expect(bench.task.state == .failed && bench.task.failure?.code == .expired)
  }

  @Test("Retry-After is obeyed at least")
  func retryAfter() throws {
    var bench = Bench(resources: 1)
    var busy = hiccup
    busy.retryAfterMs = 60_000
    try bench.tell(.turnCame, .stepFailed(0, busy), .workEnded)
    #expect(bench.task.waitingFor == .host && bench.task.nextAttemptAt == bench.now + 60_000)
  }

  @Test("nobody silences a task for longer than a day", arguments: [86_400_001, Int64.max])
  func longWish(_ wish: Int64) throws {
    var bench = Bench(resources: 1)
    var busy = hiccup
    busy.retryAfterMs = wish
    try bench.tell(.turnCame, .stepFailed(0, busy), .workEnded)
    #expect(bench.task.nextAttemptAt == bench.now + 86_400_000)
  }

  @Test("what was not even tried uses up no attempt, however often")
  func untried() throws {
    var bench = Bench(resources: 1)
    for _ in 0..<20 {
      if bench.task.state == .retrying { try bench.tell(.wake) }
      try fail(&bench, held)
      #expect(bench.task.waitingFor == .host)
      #expect(bench.task.failedAttempts == 0)
    }
  }

  @Test("what was tried counts, also beside what was not")
  func mixed() throws {
    var bench = Bench(resources: 2)
    try bench.tell(.turnCame, .exportFinished(0, Bench.file(0)), .exportFinished(1, Bench.file(1)))
    try bench.tell(.stepFailed(0, held), .stepFailed(1, asked), .workEnded)
    #expect(bench.task.failedAttempts == 1)
    #expect(bench.task.failure?.resource == 1)
  }

  @Test("a clock that was set forward expires nothing, and real time does")
  func expiry() throws {
    for (pendingMs, state) in [(Int64(1_000), TaskState.queued), (86_400_000, .failed)] {
      var bench = Bench(resources: 1)
      try fail(&bench, asked)
      var machine = TaskStateMachine(
        bench.task, policy: bench.policy, now: bench.now + 100 * 3_600_000, jitter: 1, pendingMs: pendingMs)
      _ = try machine.handle(.wake)
      #expect(machine.task.state == state)
    }
  }
}
