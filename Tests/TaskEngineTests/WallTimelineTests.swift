import TaskModel
import Testing

@testable import TaskEngine

@Suite("Waits and a clock that is set")
struct WallTimelineTests {
  private let hour: Int64 = 3_600_000
  private let start = Moment(wall: 1_000_000_000, steady: 5_000)

  @Test("while nobody sets the clock, time is time")
  func plain() {
    var timeline = WallTimeline(start)
    timeline.note(Moment(wall: start.wall + 10_000, steady: start.steady + 10_000))
    #expect(timeline.elapsed(sinceWall: start.wall + 4_000) == 6_000)
    #expect(timeline.elapsed(sinceWall: start.wall - 4_000) == 14_000)
  }

  @Test("what a time daemon corrects slowly is no step")
  func slew() {
    var timeline = WallTimeline(start)
    timeline.note(Moment(wall: start.wall + 10_400, steady: start.steady + 10_000))
    #expect(timeline.elapsed(sinceWall: start.wall) == 10_000)
  }

  @Test("set forward by hours, nothing is older than it is")
  func forward() {
    var timeline = WallTimeline(start)
    timeline.note(Moment(wall: start.wall + 30 * hour, steady: start.steady + 1_000))
    #expect(timeline.elapsed(sinceWall: start.wall) == 1_000)
    timeline.note(Moment(wall: start.wall + 30 * hour + 500, steady: start.steady + 1_500))
    #expect(timeline.elapsed(sinceWall: start.wall + 30 * hour) == 500)
    #expect(timeline.elapsed(sinceWall: start.wall - 2_000) == 3_500)
  }

  @Test("set back by hours, nothing lies in the future")
  func back() {
    var timeline = WallTimeline(start)
    timeline.note(Moment(wall: start.wall + 2_000, steady: start.steady + 2_000))
    timeline.note(Moment(wall: start.wall - hour, steady: start.steady + 3_000))
    #expect(timeline.elapsed(sinceWall: start.wall + 2_000) == 1_000)
    #expect(timeline.elapsed(sinceWall: start.wall - hour) == 0)
  }

  @Test("set forward and back again, each time is read by the clock that wrote it")
  func both() {
    var timeline = WallTimeline(start)
    timeline.note(Moment(wall: start.wall + hour, steady: start.steady + 1_000))
    timeline.note(Moment(wall: start.wall + hour + 5_000, steady: start.steady + 6_000))
    timeline.note(Moment(wall: start.wall + 9_000, steady: start.steady + 9_000))
    #expect(timeline.elapsed(sinceWall: start.wall + hour + 2_000) == 6_000)
  }

  @Test("a time that another engine wrote by a clock far ahead is now, not in an hour")
  func future() {
    #expect(WallTimeline(start).steady(ofWall: start.wall + hour) == start.steady)
  }
}

@Suite("The agenda and a clock that is set")
struct AgendaTimeTests {
  private let hour: Int64 = 3_600_000

  private func task(_ state: TaskState, notBefore: Int64? = nil) -> SendTask {
    SendTask(
      id: "t", sequence: 1, account: "a", kind: .message, lane: "chat", destination: "d", state: state,
      urgency: .normal, notBefore: notBefore, resources: [], createdAt: 0)
  }

  private func agenda(_ task: SendTask, retryAt: Int64? = nil) -> Agenda {
    var agenda = Agenda(window: 2)
    agenda.update(task, retryAt: retryAt)
    return agenda
  }

  @Test("a backoff ends after its own length, whatever the wall says")
  func backoff() {
    let agenda = agenda(task(.retrying), retryAt: 2_000)
    for wall in [-hour, 0, 30 * hour] {
      #expect(agenda.dueTasks(now: Moment(wall: wall, steady: 1_999)).isEmpty)
      #expect(agenda.nextDue(after: Moment(wall: wall, steady: 1_500)) == 500)
      #expect(agenda.dueTasks(now: Moment(wall: wall, steady: 2_000)) == ["t"])
    }
  }

  @Test("what came due while another task was woken is not forgotten; what waits for a slot is no reason to look")
  func overdue() {
    let now = Moment(wall: 0, steady: 5_000)
    #expect(agenda(task(.retrying), retryAt: 4_000).nextDue(after: now) == Agenda.overdueMs)
    #expect(agenda(task(.queued)).nextDue(after: now) == nil)
    #expect(agenda(task(.retrying), retryAt: 4_000).nextDue(after: now) { _ in true } == nil)
    #expect(agenda(task(.retrying)).nextDue(after: now) == nil)
    #expect(agenda(task(.retrying)).dueTasks(now: now).isEmpty)
  }

  @Test("an appointment is kept by the clock that people read")
  func appointment() {
    let task = task(.queued, notBefore: hour)
    let agenda = agenda(task)
    #expect(agenda.turns(in: task.laneID, now: Moment(wall: hour - 1, steady: 50 * hour)).isEmpty)
    #expect(agenda.turns(in: task.laneID, now: Moment(wall: hour, steady: 0)) == ["t"])
  }
}
