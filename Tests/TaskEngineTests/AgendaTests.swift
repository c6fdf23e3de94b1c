import TaskModel
import Testing

@testable import TaskEngine

@Suite("Whose turn it is")
struct AgendaTests {
  private func task(_ id: String, _ state: TaskState, sequence: Int64 = 1) -> SendTask {
    SendTask(
      id: id, sequence: sequence, account: "me", kind: .message, lane: "chat", destination: "d", state: state,
      urgency: .normal, resources: [], createdAt: 0)
  }

  /// The steady clock began long after the other one.
  private func moment(_ steady: Int64) -> Moment { Moment(wall: 1_000_000 + steady, steady: steady) }

  @Test("a wait that is over before its timer was set is due, not forgotten")
  func overdue() {
    var agenda = Agenda(window: 4)
    agenda.update(task("late", .retrying), retryAt: 10)
    agenda.update(task("later", .retrying, sequence: 2), retryAt: 90)
    #expect(agenda.nextDue(after: moment(50)) == Agenda.overdueMs)
    #expect(agenda.dueTasks(now: moment(50)) == ["late"])
    #expect(agenda.nextDue(after: moment(50)) { $0 == "late" } == 40, "a command is just dealing with it")
  }

  @Test("what waits for a front end has no time, and keeps no engine alive")
  func withoutTime() {
    var agenda = Agenda(window: 4)
    agenda.update(task("a", .retrying), retryAt: nil)
    #expect(agenda.nextDue(after: moment(50)) == nil)
    #expect(agenda.dueTasks(now: moment(50)) == [])
    #expect(!agenda.isBusy(now: moment(50), patience: 60_000))
  }

  @Test("a queued task waits for its time, and after that for its turn only")
  func notBefore() {
    var agenda = Agenda(window: 4)
    var later = task("a", .queued)
    later.notBefore = 1_000_100
    agenda.update(later, retryAt: nil)
    #expect(agenda.nextDue(after: moment(50)) == 50)
    #expect(agenda.turns(in: later.laneID, now: moment(50)) == [])
    #expect(agenda.nextDue(after: moment(100)) == nil)
    #expect(agenda.turns(in: later.laneID, now: moment(100)) == ["a"])
  }
}
