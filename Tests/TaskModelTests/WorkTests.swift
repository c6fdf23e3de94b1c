import TaskModel
import Testing

@Suite("One attempt in the state machine")
struct WorkTests {
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
    #expect(try bench.tell(.exportLost(0)) == [.removeExport(Bench.file(0)), .export(0)])
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
}
