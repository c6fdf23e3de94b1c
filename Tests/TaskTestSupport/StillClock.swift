public import TaskModel

/// A clock that stands, and on which nothing ever ends its sleep but a cancel.
public struct StillClock: TaskModel.Clock {
  private let time: Int64
  public init(time: Int64 = 0) { self.time = time }
  public func now() -> Int64 { time }
  public func sleep(milliseconds: Int64) async throws {
    for await _ in AsyncStream<Void>.makeStream().stream {}
    try Task.checkCancellation()
  }
}
