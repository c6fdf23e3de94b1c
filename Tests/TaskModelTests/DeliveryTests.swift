import TaskModel
import Testing

@Suite("Deliveries in the state machine")
struct DeliveryStateTests {
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
}
