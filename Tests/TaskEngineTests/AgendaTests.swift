import TaskModel
import Testing

@testable import TaskEngine

@Suite("Whose turn it is")
struct AgendaTests {
  private func task(_ id: String, _ state: TaskState, sequence: Int64 = 1, nextAttemptAt: Int64? = nil) -> SendTask {
    var task = SendTask(
      id: id, sequence: sequence, account: "me", kind: .message, lane: "chat", destination: "d", state: state,
      urgency: .normal, resources: [], createdAt: 0)
    task.nextAttemptAt = nextAttemptAt
    return task
  }

  @Test("a wait that is over before its timer was set is due, not forgotten")
  func overdue() {
    var agenda = Agenda(window: 4)
    agenda.update(task("late", .retrying, nextAttemptAt: 10))
    agenda.update(task("later", .retrying, sequence: 2, nextAttemptAt: 90))
    #expect(agenda.nextDue(now: 50) { _ in false } == 10)
    #expect(agenda.dueTasks(now: 50) == ["late"])
    #expect(agenda.nextDue(now: 50) { $0 == "late" } == 90, "a command is just dealing with it")
  }

  @Test("a queued task waits for its time, and after that for its turn only")
  func notBefore() {
    var agenda = Agenda(window: 4)
    var later = task("a", .queued)
    later.notBefore = 100
    agenda.update(later)
    #expect(agenda.nextDue(now: 50) { _ in false } == 100)
    #expect(agenda.turns(in: later.laneID, now: 50) == [])
    #expect(agenda.nextDue(now: 100) { _ in false } == nil)
    #expect(agenda.turns(in: later.laneID, now: 100) == ["a"])
  }
}
