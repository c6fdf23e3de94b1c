import Synchronization
import TaskModel

/// The engine's time: a clock, and the memory of how its wall was set since the start.
final class EngineTime: Sendable {
  let clock: any Clock
  private let timeline: Mutex<WallTimeline>

  init(_ clock: any Clock) {
    self.clock = clock
    timeline = Mutex(WallTimeline(Moment(wall: clock.now(), steady: clock.steady())))
  }

  func now() -> Moment { timeline.withLock { note(&$0) } }

  /// How long ago a stored time was.
  func elapsed(since wall: Int64) -> Int64 {
    timeline.withLock { timeline in
      _ = note(&timeline)
      return timeline.elapsed(sinceWall: wall)
    }
  }

  /// When a wait is over, on the steady clock: it is as long as was decided, whatever the wall says since.
  func end(ofWaitUntil wall: Int64, decidedAt: Int64) -> Int64 {
    timeline.withLock { timeline in
      _ = note(&timeline)
      return timeline.steady(ofWall: decidedAt) + max(0, wall - decidedAt)
    }
  }

  private func note(_ timeline: inout WallTimeline) -> Moment {
    let moment = Moment(wall: clock.now(), steady: clock.steady())
    timeline.note(moment)
    return moment
  }
}
