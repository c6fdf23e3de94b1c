import Platform
public import TaskModel

/// The real time.
public struct SystemClock: Clock {
  public init() {}
  public func now() -> Int64 { SystemTime.wallMs() }
  public func steady() -> Int64 { SystemTime.steadyMs() }
  public func sleep(milliseconds: Int64) async throws { try await Task.sleep(for: .milliseconds(milliseconds)) }
}
