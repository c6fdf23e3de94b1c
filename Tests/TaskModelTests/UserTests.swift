import TaskModel
import Testing

@Suite("What users ask of the state machine")
struct UserTests {
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

  @Test(
    "what waits or is held takes a change, what works or is over does not", arguments: TaskState.allCases)
  func update(_ state: TaskState) throws {
    var bench = Bench(resources: 1, state: state)
    let change = TaskChange(payload: ["text": "new"], urgency: .background, notBefore: 9_000)
    guard [.draft, .queued, .retrying, .paused, .failed].contains(state) else {
      #expect(throws: InvalidTransition.self) { try bench.tell(.update(change)) }
      return
    }
    #expect(try bench.tell(.update(change)) == [])
    #expect(bench.task.state == state)
    #expect(bench.task.payload == ["text": "new"] && bench.task.urgency == .background)
    #expect(bench.task.notBefore == 9_000 && bench.task.pendingSince == 9_000)
    #expect(bench.task.waitingFor == (state == .queued ? .notBefore : nil))
    try bench.tell(.update(TaskChange(notBefore: 0)))
    #expect(bench.task.notBefore == nil && bench.task.payload == ["text": "new"])
    #expect(bench.task.pendingSince == bench.now)
    if state == .queued { #expect(bench.task.waitingFor == .slot) }
  }

  @Test("what may have been delivered keeps its payload, as its key is the same, and takes other changes")
  func updateInDoubt() throws {
    var bench = Bench(resources: 1)
    try bench.uploadEverything()
    try bench.tell(.deliveryStarted, .deliveryFailed(answerLost))
    #expect(bench.task.state == .retrying && bench.task.deliveriesInDoubt == 1)
    #expect(throws: InvalidTransition.self) { try bench.tell(.update(TaskChange(payload: ["text": "new"]))) }
    try bench.tell(.update(TaskChange(urgency: .background)))
    #expect(bench.task.urgency == .background && bench.task.payload == nil)
  }
}
