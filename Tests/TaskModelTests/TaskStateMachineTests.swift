import JSON
import TaskModel
import Testing

/// A task under a machine: events in, actions out, with the saved state in between.
private struct Bench {
  var task: SendTask
  var policy = RetryPolicy()
  var now: Int64 = 1_000
  var abandoned: [JSONValue] = []

  init(resources count: Int, partial: PartialPolicy = .fail, state: TaskState = .queued) {
    let resources = (0..<count).map { index in
      Resource(
        index: index, role: .image, source: .path("/photos/\(index).jpg"), name: "\(index).jpg",
        sourceMime: "image/jpeg", identity: SourceIdentity(size: 100, modifiedNs: 1, changedNs: 1, inode: 1))
    }
    task = SendTask(
      id: "t", account: "default", kind: .message, lane: "chat", destination: "local", state: state, partial: partial,
      urgency: .normal, resources: resources, createdAt: 0)
  }

  @discardableResult
  mutating func tell(_ events: TaskEvent...) throws -> [TaskAction] {
    var actions: [TaskAction] = []
    for event in events {
      var machine = TaskStateMachine(task, policy: policy, now: now, jitter: 1)
      actions = try machine.handle(event)
      task = machine.task
      abandoned += machine.abandoned
    }
    return actions
  }

  static func file(_ index: Int) -> ExportedFile {
    ExportedFile(file: "x\(index)", mime: "image/jpeg", size: 50, md5: "m\(index)", sha256: "s\(index)")
  }
  static func result(_ index: Int) -> UploadResult {
    UploadResult(url: "https://cdn.example.org/\(index)", uploadProtocol: "put")
  }

  /// Everything up to the lane's turn.
  mutating func uploadEverything() throws {
    try tell(.turnCame)
    for index in task.resources.indices { try tell(.exportFinished(index, Self.file(index))) }
    for index in task.resources.indices { try tell(.uploadFinished(index, Self.result(index))) }
    try tell(.workEnded)
  }
}

private let hiccup = Failure(.unavailable, "503", remedy: .retry, httpStatus: 503)
private let noNetwork = Failure(.unreachable, "no route", remedy: .retry, isOffline: true)
private let damaged = Failure(.damaged, "cut off", remedy: .giveUp)
private let answerLost = Failure(.unavailable, "cut", remedy: .retry, outcomeUnknown: true)

@Suite("The task's state machine")
struct TaskStateMachineTests {
  @Test("a send goes from queued to sent, and its receipts are of what went up")
  func wholeWay() throws {
    var bench = Bench(resources: 2)
    #expect(try bench.tell(.turnCame) == [.export(0), .export(1)])
    #expect(bench.task.attempt == 1)
    #expect(try bench.tell(.exportFinished(1, Bench.file(1))) == [.upload(1)])
    #expect(bench.task.state == .exporting)
    #expect(try bench.tell(.exportFinished(0, Bench.file(0))) == [.upload(0)])
    #expect(bench.task.state == .uploading)
    try bench.tell(.uploadFinished(0, Bench.result(0)), .uploadFinished(1, Bench.result(1)))
    #expect(try bench.tell(.workEnded) == [.awaitLane])
    #expect(bench.task.state == .uploading && bench.task.waitingFor == .lane)
    #expect(try bench.tell(.deliveryStarted) == [.deliver(.send)])
    #expect(bench.task.deliveriesInDoubt == 1)
    #expect(try bench.tell(.delivered(remoteId: "p1")) == [.removeExport(Bench.file(0)), .removeExport(Bench.file(1))])
    #expect(bench.task.state == .sent && bench.task.remoteId == "p1" && bench.task.progress == 1)
    #expect(bench.task.resources.map { $0.receipt?.md5 } == ["m0", "m1"])
    #expect(bench.task.finishedAt == bench.now && bench.task.failure == nil)
  }

  @Test("a text without resources goes straight to the lane")
  func textOnly() throws {
    var bench = Bench(resources: 0)
    #expect(try bench.tell(.turnCame) == [])
    #expect(try bench.tell(.workEnded) == [.awaitLane])
    #expect(try bench.tell(.deliveryStarted) == [.deliver(.send)])
  }

  @Test("what an upload saved is kept over attempts, and given back to be taken back where nobody goes on with it")
  func uploadStates() throws {
    var bench = Bench(resources: 2)
    try bench.tell(.turnCame, .exportFinished(0, Bench.file(0)), .exportFinished(1, Bench.file(1)))
    try bench.tell(.uploadStarted(0), .uploadSaved(0, ["id": "a"]), .uploadSaved(0, ["id": "b"]), .uploadSaved(1, "c"))
    try bench.tell(.uploadFinished(1, Bench.result(1)))
    #expect(bench.task.resources[0].uploadState == ["id": "b"])
    #expect(bench.task.resources[1].uploadState == nil, "what is up needs no more")
    try bench.tell(.rescued, .turnCame)
    #expect(bench.task.resources[0].uploadState == ["id": "b"])
    try bench.tell(.cancel)
    #expect(bench.task.resources[0].uploadState == nil)
    #expect(bench.abandoned == [["id": "b"]])
    try bench.tell(.uploadSaved(0, "late"))
    #expect(bench.abandoned == [["id": "b"], "late"], "an upload that was begun while the cancel came")
  }

  @Test("an upload that gives up what it had is taken back, and goes on with what it saves next")
  func discardedUpload() throws {
    var bench = Bench(resources: 1)
    try bench.tell(.turnCame, .exportFinished(0, Bench.file(0)), .uploadStarted(0), .uploadSaved(0, "a"))
    try bench.tell(.uploadDiscarded(0), .uploadSaved(0, "b"))
    #expect(bench.abandoned == ["a"])
    #expect(bench.task.resources[0].uploadState == "b")
    try bench.tell(.uploadFinished(0, Bench.result(0)), .uploadDiscarded(0))
    #expect(bench.abandoned == ["a"], "too late to mean anything")
  }

  @Test("an attempt that brought the server more does not count")
  func progressDoesNotCount() throws {
    for (madeProgress, expected) in [(true, 0), (false, 1)] {
      var bench = Bench(resources: 1)
      var failure = Failure(.unavailable, "cut", remedy: .retry, retryAfterMs: 1)
      failure.madeProgress = madeProgress
      try bench.tell(
        .turnCame, .exportFinished(0, Bench.file(0)), .uploadStarted(0), .stepFailed(0, failure), .workEnded)
      #expect(bench.task.state == .retrying)
      #expect(bench.task.failedAttempts == expected)
    }
  }

  @Test(
    "whether a tag is the MD5 is said where it can be known",
    arguments: [
      (nil, nil), ("0123456789abcdef0123456789abcdef", true), ("0123456789ABCDEF0123456789ABCDEF", true),
      ("ffffffffffffffffffffffffffffffff", false), ("0123456789abcdef0123456789abcdef-3", nil), ("5f-1a", nil),
    ] as [(String?, Bool?)])
  func etag(_ etag: String?, _ expected: Bool?) {
    let receipt = Receipt(
      url: "u", mime: "m", size: 1, md5: "0123456789abcdef0123456789abcdef", sha256: "s", etag: etag, name: "n")
    #expect(receipt.etagMatchesMd5 == expected)
  }

  @Test("an export that is made again begins its upload anew")
  func uploadStateOfLostExport() throws {
    var bench = Bench(resources: 1)
    try bench.tell(.turnCame, .exportFinished(0, Bench.file(0)), .uploadStarted(0), .uploadSaved(0, "a"))
    try bench.tell(.exportLost(0))
    #expect(bench.task.resources[0].uploadState == nil)
    #expect(bench.abandoned == ["a"])
  }

  @Test("a hiccup is repeated at once, twice, and then the task backs off")
  func hiccups() throws {
    var bench = Bench(resources: 1)
    try bench.tell(.turnCame, .exportFinished(0, Bench.file(0)))
    #expect(try bench.tell(.stepFailed(0, hiccup)) == [.upload(0)])
    #expect(try bench.tell(.stepFailed(0, hiccup)) == [.upload(0)])
    #expect(try bench.tell(.stepFailed(0, hiccup)) == [])
    try bench.tell(.workEnded)
    #expect(bench.task.state == .retrying && bench.task.waitingFor == .backoff && bench.task.failedAttempts == 1)
    #expect(bench.task.nextAttemptAt == bench.now + 2_000)
    try bench.tell(.wake)
    #expect(try bench.tell(.turnCame) == [.upload(0)], "the finished export is used again")
    #expect(bench.task.attempt == 2)
  }

  @Test("attempts run out; the failure tells the last cause, and a user's retry begins anew")
  func exhaustion() throws {
    var bench = Bench(resources: 1)
    bench.policy.resourceRetries = 0
    bench.policy.attempts = 3
    for attempt in 1...3 {
      try bench.tell(.turnCame, .stepFailed(0, hiccup), .workEnded)
      #expect(bench.task.state == (attempt < 3 ? .retrying : .failed))
      if attempt < 3 { try bench.tell(.wake) }
    }
    #expect(bench.task.failure?.code == .attemptsExhausted && bench.task.failure?.httpStatus == 503)
    try bench.tell(.retry([:]))
    #expect(bench.task.state == .queued && bench.task.failure == nil && bench.task.finishedAt == nil)
    try bench.uploadEverything()
    try bench.tell(.deliveryStarted, .delivered(remoteId: nil))
    #expect(bench.task.state == .sent && bench.task.failure == nil)
    #expect(bench.task.resources.compactMap(\.failure).isEmpty)
  }

  @Test("an attempt that put a resource at its URL does not count")
  func progressIsNoFailure() throws {
    var bench = Bench(resources: 2)
    bench.policy.resourceRetries = 0
    try bench.tell(.turnCame, .exportFinished(0, Bench.file(0)), .exportFinished(1, Bench.file(1)))
    try bench.tell(.uploadFinished(0, Bench.result(0)), .stepFailed(1, hiccup), .workEnded)
    #expect(bench.task.state == .retrying && bench.task.failedAttempts == 0)
    try bench.tell(.wake)
    #expect(try bench.tell(.turnCame) == [.upload(1)], "only what has no URL is sent")
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

  @Test("exports that are refused or lost each time use the repeats up, and the attempts", arguments: [true, false])
  func neverWhole(_ isLost: Bool) throws {
    var bench = Bench(resources: 1)
    var other = Failure(.integrityMismatch, "other bytes", remedy: .restart)
    other.madeProgress = true
    for _ in 0..<bench.policy.attempts {
      #expect(bench.task.state == .queued)
      try bench.tell(.turnCame)
      var exports = 1
      while bench.task.resources[0].state != .failed, exports < 9 {
        try bench.tell(.exportFinished(0, Bench.file(0)), isLost ? .exportLost(0) : .stepFailed(0, other))
        exports += 1
      }
      #expect(exports <= bench.policy.resourceRetries + 3)
      try bench.tell(.workEnded)
      if bench.task.state == .retrying { try bench.tell(.wake) }
    }
    #expect(bench.task.failure?.code == .attemptsExhausted)
  }

  @Test("nobody silences a task for longer than a day", arguments: [86_400_001, Int64.max])
  func longWish(_ wish: Int64) throws {
    var bench = Bench(resources: 1)
    var busy = hiccup
    busy.retryAfterMs = wish
    try bench.tell(.turnCame, .stepFailed(0, busy), .workEnded)
    #expect(bench.task.nextAttemptAt == bench.now + 86_400_000)
  }

  @Test("a permanent failure ends the task at once and stops the rest")
  func permanent() throws {
    var bench = Bench(resources: 2)
    try bench.tell(.turnCame)
    #expect(try bench.tell(.stepFailed(1, damaged)) == [.stopWork])
    #expect(bench.task.state == .failed && bench.task.failure?.resource == 1)
    #expect(try bench.tell(.exportFinished(0, Bench.file(0))) == [.removeExport(Bench.file(0))], "too late")
  }

  @Test("with partial: publish the rest is published and the failed one stays named")
  func partialPublish() throws {
    var bench = Bench(resources: 2, partial: .publish)
    try bench.tell(.turnCame, .stepFailed(0, damaged))
    #expect(bench.task.state == .exporting)
    try bench.tell(.exportFinished(1, Bench.file(1)), .uploadFinished(1, Bench.result(1)))
    #expect(try bench.tell(.workEnded) == [.awaitLane])
    try bench.tell(.deliveryStarted, .delivered(remoteId: "p"))
    #expect(bench.task.state == .sent && bench.task.resources[0].failure?.code == .damaged)

    var tooFew = Bench(resources: 2, partial: .publish)
    tooFew.task.minResources = 2
    try tooFew.tell(.turnCame, .stepFailed(0, damaged), .exportFinished(1, Bench.file(1)))
    try tooFew.tell(.uploadFinished(1, Bench.result(1)), .workEnded)
    #expect(tooFew.task.state == .failed)
  }

  @Test("after a lost answer the delivery is repeated as a resend")
  func resend() throws {
    var bench = Bench(resources: 1)
    try bench.uploadEverything()
    try bench.tell(.deliveryStarted, .deliveryFailed(answerLost))
    #expect(bench.task.state == .retrying && bench.task.deliveriesInDoubt == 1)
    try bench.tell(.wake, .turnCame)
    #expect(try bench.tell(.workEnded) == [.awaitLane])
    #expect(try bench.tell(.deliveryStarted) == [.deliver(.resend)])
    try bench.tell(.deliveryFailed(hiccup))
    #expect(bench.task.deliveriesInDoubt == 1, "a clear no to the second says nothing of the first")
  }

  @Test("a permanent failure that may have arrived all the same leaves the doubt, so that a retry is a resend")
  func permanentInDoubt() throws {
    var bench = Bench(resources: 1)
    try bench.uploadEverything()
    let unsure = Failure(.diskFull, "synced or not", remedy: .needsUser, outcomeUnknown: true)
    try bench.tell(.deliveryStarted, .deliveryFailed(unsure))
    #expect(bench.task.state == .failed)
    try bench.tell(.retry([:]), .turnCame, .workEnded)
    #expect(try bench.tell(.deliveryStarted) == [.deliver(.resend)])
  }

  @Test("what is repeated after a lost answer has the same content, without what failed then")
  func sameContentInDoubt() throws {
    var bench = Bench(resources: 2, partial: .publish)
    try bench.tell(.turnCame, .stepFailed(0, damaged), .exportFinished(1, Bench.file(1)))
    try bench.tell(
      .uploadFinished(1, Bench.result(1)), .workEnded, .deliveryStarted, .deliveryFailed(answerLost), .wake)
    #expect(try bench.tell(.turnCame) == [])
    #expect(try bench.tell(.workEnded) == [.awaitLane])
    #expect(try bench.tell(.deliveryStarted) == [.deliver(.resend)])
    #expect(bench.task.resources.map(\.state) == [.failed, .uploaded])
  }

  @Test("a crash in a delivery is rescued as a resend, a crash in the work begins the missing steps again")
  func rescue() throws {
    var bench = Bench(resources: 2)
    try bench.tell(.turnCame, .exportFinished(0, Bench.file(0)), .exportStarted(1), .uploadStarted(0))
    try bench.tell(.rescued)
    #expect(bench.task.state == .queued && bench.task.resources.map(\.state) == [.exported, .pending])
    #expect(try bench.tell(.turnCame) == [.export(1), .upload(0)])
    #expect(bench.task.attempt == 1, "a crash uses up no attempt")

    var delivering = Bench(resources: 1)
    try delivering.uploadEverything()
    try delivering.tell(.deliveryStarted, .rescued, .turnCame, .workEnded)
    #expect(try delivering.tell(.deliveryStarted) == [.deliver(.resend)])
  }

  @Test("a cancel while a delivery is in the air answers what is true")
  func cancelInFlight() throws {
    func delivering() throws -> Bench {
      var bench = Bench(resources: 1)
      try bench.uploadEverything()
      try bench.tell(.deliveryStarted, .cancel)
      #expect(bench.task.state == .delivering)
      return bench
    }
    var tooLate = try delivering()
    try tooLate.tell(.delivered(remoteId: "p"))
    #expect(tooLate.task.state == .sent)
    var inTime = try delivering()
    try inTime.tell(.deliveryFailed(hiccup))
    #expect(inTime.task.state == .canceled)
    var unknown = try delivering()
    try unknown.tell(.deliveryFailed(answerLost))
    #expect(unknown.task.failure?.code == .deliveryUnknown)
    var crashed = try delivering()
    try crashed.tell(.rescued)
    #expect(crashed.task.failure?.code == .deliveryUnknown)
    try crashed.tell(.retry([:]), .turnCame, .workEnded)
    #expect(try crashed.tell(.deliveryStarted) == [.deliver(.resend)], "a retry uses the same key")
  }

  @Test("a cancel of a task whose delivery is in doubt does not claim that nothing was sent")
  func cancelInDoubt() throws {
    var bench = Bench(resources: 1)
    try bench.uploadEverything()
    try bench.tell(.deliveryStarted, .deliveryFailed(answerLost), .cancel)
    #expect(bench.task.state == .failed && bench.task.failure?.code == .deliveryUnknown)
  }

  @Test("after canceled nothing is asked for any more", arguments: TaskState.allCases.filter { $0 != .delivering })
  func canceled(_ state: TaskState) throws {
    var bench = Bench(resources: 1, state: state)
    if state == .sent || state == .canceled {
      #expect(throws: InvalidTransition.self) { try bench.tell(.cancel) }
      return
    }
    try bench.tell(.cancel)
    #expect(bench.task.state == .canceled && bench.task.finishedAt != nil)
    for late: TaskEvent in [.turnCame, .wake, .workEnded, .deliveryStarted, .stepFailed(0, hiccup), .rescued] {
      #expect(try bench.tell(late) == [])
      #expect(bench.task.state == .canceled)
    }
    #expect(try bench.tell(.exportFinished(0, Bench.file(0))) == [.removeExport(Bench.file(0))])
  }

  @Test("a retry takes the sources as they are now and drops an export of an older one")
  func retryWithNewSource() throws {
    var bench = Bench(resources: 1)
    try bench.tell(.turnCame, .exportFinished(0, Bench.file(0)))
    try bench.tell(.stepFailed(0, Failure(.rejected, "no", remedy: .giveUp)))
    let identity = SourceIdentity(size: 7, modifiedNs: 7, changedNs: 7, inode: 7)
    let refresh = SourceRefresh(source: .path("/photos/new.png"), identity: identity, mime: "image/png")
    #expect(try bench.tell(.retry([0: refresh])) == [.removeExport(Bench.file(0))])
    #expect(bench.task.resources[0].identity == identity && bench.task.resources[0].export == nil)
  }

  @Test("a pause stops the work and a resume goes on with what is missing")
  func pause() throws {
    var bench = Bench(resources: 2)
    try bench.tell(.turnCame, .exportFinished(0, Bench.file(0)), .uploadFinished(0, Bench.result(0)))
    #expect(try bench.tell(.pause) == [.stopWork])
    #expect(try bench.tell(.workEnded) == [])
    #expect(bench.task.state == .paused)
    try bench.tell(.resume)
    #expect(try bench.tell(.turnCame) == [.export(1)])
  }

  @Test("progress never falls and says 1 with sent only")
  func progress() throws {
    var bench = Bench(resources: 2)
    var last = 0.0
    func check(_ task: SendTask) {
      #expect(task.progress >= last && (task.progress == 1) == (task.state == .sent))
      last = task.progress
    }
    try bench.tell(.turnCame, .exportFinished(0, Bench.file(0)))
    check(bench.task)
    try bench.tell(.exportLost(0))
    check(bench.task)
    try bench.tell(.exportFinished(0, Bench.file(0)), .exportFinished(1, Bench.file(1)), .rescued)
    check(bench.task)
    try bench.uploadEverything()
    check(bench.task)
    #expect(bench.task.progress == 0.98)
    try bench.tell(.deliveryStarted, .delivered(remoteId: nil))
    check(bench.task)
  }

  @Test("every walk of random events keeps the invariants", arguments: 0..<200)
  func randomWalk(_ seed: Int) throws {
    var random = SplitMix(state: UInt64(seed))
    var bench = Bench(resources: Int.random(in: 0...3, using: &random), partial: seed % 2 == 0 ? .fail : .publish)
    bench.policy.attempts = 3
    bench.policy.resourceRetries = 1
    for _ in 0..<60 {
      let before = bench.task
      let index = Int.random(in: 0...2, using: &random)
      let events: [TaskEvent] = [
        .start, .retry([:]), .cancel, .pause, .resume, .turnCame, .turnCame, .wake, .rescued, .exportStarted(index),
        .exportFinished(index, Bench.file(index)), .exportFinished(index, Bench.file(index)), .exportLost(index),
        .uploadStarted(index), .uploadFinished(index, Bench.result(index)),
        .uploadFinished(index, Bench.result(index)), .stepFailed(index, hiccup), .stepFailed(index, damaged),
        .stepFailed(index, noNetwork), .workEnded, .workEnded, .deliveryStarted, .delivered(remoteId: "p"),
        .deliveryFailed(hiccup), .deliveryFailed(answerLost), .deliveryFailed(damaged),
      ]
      do { try bench.tell(events[Int.random(in: events.indices, using: &random)]) } catch is InvalidTransition {}
      let task = bench.task
      #expect((task.finishedAt != nil) == task.state.isFinal)
      #expect(task.progress >= before.progress && (task.progress == 1) == (task.state == .sent))
      #expect(task.resources.allSatisfy { ($0.state == .uploaded) == ($0.url != nil && $0.receipt != nil) })
      for (old, new) in zip(before.resources, task.resources) where old.isDone { #expect(new.url == old.url) }
      #expect(task.deliveriesInDoubt >= 0)
      if before.state == .sent { #expect(task.state == .sent) }
      if task.state == .delivering || task.state == .sent, task.partial == .fail {
        #expect(task.uploadedCount == task.resources.count, "never with a piece missing")
      }
    }
  }
}

/// A repeatable source of random numbers (Steele, Lea, Flood 2014).
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

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

@Suite("Sources in the store, in the state machine")
struct StoredSourceTests {
  private func bench(_ source: Source) -> Bench {
    var bench = Bench(resources: 1)
    bench.task.resources[0].source = source
    return bench
  }

  private let found = SourceRefresh(
    source: .url("https://h/a?t", file: "f"), identity: SourceIdentity(size: 7, modifiedNs: 1, changedNs: 1, inode: 1),
    mime: "image/gif")

  @Test("what was fetched is the source from then on")
  func fetched() throws {
    var bench = bench(.url("https://h/a?t", file: nil))
    #expect(try bench.tell(.turnCame, .exportStarted(0), .sourceFetched(0, found)) == [])
    #expect(bench.task.resources[0].source.file == "f")
    #expect(bench.task.resources[0].identity?.size == 7)
    #expect(bench.task.resources[0].sourceMime == "image/gif")
  }

  @Test("what comes after a cancel is removed")
  func late() throws {
    var bench = bench(.url("https://h/a?t", file: nil))
    try bench.tell(.turnCame, .exportStarted(0), .cancel)
    #expect(try bench.tell(.sourceFetched(0, found)) == [.removeSource("f")])
  }

  @Test("a copy goes when the task is sent or taken back, and stays while it can be resent")
  func removed() throws {
    var sent = bench(.kept(path: "/a", file: "f"))
    try sent.uploadEverything()
    try sent.tell(.deliveryStarted)
    #expect(try sent.tell(.delivered(remoteId: nil)).contains(.removeSource("f")))
    #expect(sent.task.resources[0].source == .kept(path: "/a", file: nil))
    var failed = bench(.kept(path: "/a", file: "f"))
    #expect(try !failed.tell(.turnCame, .stepFailed(0, damaged)).contains(.removeSource("f")))
    #expect(try !failed.tell(.retry([:])).contains(.removeSource("f")))
    #expect(failed.task.resources[0].source.file == "f")
    #expect(try failed.tell(.cancel).contains(.removeSource("f")))
  }

  @Test("a user's retry fetches again what is not exported, and keeps what is")
  func retried() throws {
    var bench = bench(.url("https://h/a?t", file: "f"))
    try bench.tell(.turnCame, .stepFailed(0, damaged))
    #expect(try bench.tell(.retry([:])) == [.removeSource("f")])
    #expect(bench.task.resources[0].source.file == nil)
    #expect(bench.task.resources[0].identity == nil)
    bench = self.bench(.url("https://h/a?t", file: "f"))
    try bench.tell(.turnCame, .exportFinished(0, Bench.file(0)), .stepFailed(0, damaged))
    #expect(try bench.tell(.retry([:])) == [])
    #expect(bench.task.resources[0].source.file == "f")
  }

  @Test(
    "front ends see neither a URL's query nor the store's own names, and the same key with another query is another submit"
  )
  func hidden() {
    #expect(Source.url("https://h/a?token=1#x", file: "f").json == ["url": "https://h/a"])
    #expect(Source.kept(path: "/a", file: "f").json == ["path": "/a", "keep": true])
    func content(_ url: String) -> String {
      Submission(kind: .avatar, resources: [ResourceDraft(source: .url(url, file: nil))]).content
    }
    #expect(content("https://h/a?x=1") != content("https://h/a?x=2"))
  }
}
