/// Where the engine's own words go: stderr, never stdout.
public struct Log: Sendable {
  public enum Level: Int, Sendable, CaseIterable, Comparable {
    case error, warning, info, debug, trace
    public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  public let level: Level
  private let write: @Sendable (Level, String) -> Void

  public init(level: Level, write: @escaping @Sendable (Level, String) -> Void) {
    self.level = level
    self.write = write
  }

  public func callAsFunction(_ level: Level, _ message: @autoclosure () -> String) {
    if level <= self.level { write(level, message()) }
  }
}
