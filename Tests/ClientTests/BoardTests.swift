import JSON
import Testing

@testable import taskcenter

private func task(_ id: String, _ state: String, _ progress: Double = 0) -> JSONValue {
  ["id": .string(id), "state": .string(state), "progress": .double(progress)]
}

@Suite("Following tasks")
struct BoardTests {
  @Test("named tasks have ended when each of them has, and not before the snapshot")
  func end() {
    var board = Board(named: ["a", "b", "a"])
    #expect(!board.hasEnded)
    let news = board.begin([task("b", "sent", 1), task("a", "uploading")])
    #expect(news.map { $0["id"] } == ["a", "b"])
    #expect(!board.hasEnded)
    let isChange = board.change(task("a", "failed"))
    #expect(isChange)
    #expect(board.hasEnded)
    #expect(board.all.map { $0["id"] } == ["a", "b"])
  }

  @Test("a change that overtakes the snapshot is not undone by it")
  func overtaken() {
    var board = Board(named: ["a"])
    let isChange = board.change(task("a", "sent", 1))
    #expect(isChange)
    #expect(!board.hasEnded)
    let news = board.begin([task("a", "delivering", 0.98)])
    #expect(news.isEmpty)
    #expect(board.hasEnded)
    #expect(board.all == [task("a", "sent", 1)])
  }

  @Test("a named id that no task has is known as soon as the snapshot is there")
  func unknown() {
    var board = Board(named: ["a", "x"])
    #expect(board.unknown.isEmpty)
    _ = board.begin([task("a", "sent", 1)])
    #expect(board.unknown == ["x"])
    #expect(!board.hasEnded)
  }

  @Test("a deleted task has ended, and is told of as deleted")
  func deletion() {
    var board = Board(named: ["a"])
    _ = board.begin([task("a", "uploading")])
    let other = board.delete("other")
    #expect(other == nil)
    let told = board.delete("a")
    #expect(told?["state"] == "deleted")
    #expect(board.hasEnded)
  }

  @Test("without names, tasks that ended earlier are no news, and a draft or a paused task is nothing to wait for")
  func idle() {
    var board = Board(named: nil)
    #expect(!board.isIdle)
    let news = board.begin([task("d", "paused"), task("c", "draft"), task("b", "queued"), task("a", "sent", 1)])
    #expect(news.map { $0["id"] } == ["b", "c", "d"])
    #expect(!board.isIdle)
    _ = board.change(task("b", "sent", 1))
    #expect(board.isIdle && !board.hasEnded)
    _ = board.change(task("e", "queued"))
    #expect(!board.isIdle)
  }

  @Test("progress is no change of state, and progress of others is nobody's")
  func progress() {
    var board = Board(named: ["a"])
    _ = board.begin([task("a", "uploading", 0.1)])
    let isOurs = board.progress(["id": "a", "progress": .double(0.5)])
    #expect(isOurs)
    let isOthers = board.progress(["id": "b", "progress": 1])
    #expect(!isOthers)
    #expect(board.all == [task("a", "uploading", 0.5)])
    let isChange = board.change(task("a", "uploading", 0.6))
    #expect(!isChange)
  }

  @Test("where not all fit, those that go on are shown before those that have ended")
  func room() {
    var board = Board(named: nil)
    for (id, state) in [("a", "sent"), ("b", "uploading"), ("c", "failed"), ("d", "queued")] {
      _ = board.change(task(id, state))
    }
    #expect(board.shown(3).map { $0["id"] } == ["b"])
    #expect(board.shown(4).map { $0["id"] } == ["b", "d"])
    #expect(board.shown(5).map { $0["id"] } == ["a", "b", "c", "d"])
  }

  @Test("Ctrl-C tells how to watch and how to take back what goes on, and says nothing of what has ended")
  func farewell() {
    var board = Board(named: ["a", "b"])
    _ = board.begin([task("b", "sent", 1), task("a", "uploading")])
    #expect(
      Follow.farewell(board, " --store /s") == """
        the send goes on in the background
          watch:      taskcenter watch a --store /s
          take back:  taskcenter cancel a --store /s
        """)
    _ = board.change(task("a", "sent", 1))
    #expect(Follow.farewell(board, "").isEmpty)
  }
}
