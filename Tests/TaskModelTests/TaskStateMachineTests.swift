import TaskModel
import Testing

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
