public import Foundation
import Synchronization

/// Starts programs one at a time. Foundation watches a child through a descriptor that it closes on exec only a moment after
/// it has made it; a second child that is started in that moment inherits it, and the first then seems to live as long as
/// the second.
public enum Spawning {
  private static let lock = Mutex(())

  /// - Parameter prepare: makes the process with its pipes.
  /// - Returns: the process, running.
  public static func start(_ prepare: () -> Process) throws -> Process {
    try lock.withLock { _ in
      let process = prepare()
      try process.run()
      return process
    }
  }
}
