import Glibc
import Platform

/// Workers of a dead engine. They end as soon as they find out, but that takes a moment, in which one may still begin a
/// file. Every worker holds a shared lock on the folder of exports; whoever gets the exclusive one knows that none is left.
enum Orphans {
  /// For one that is stopped or hangs in the kernel nobody waits longer, in milliseconds.
  static let patienceMs: Int64 = 1_000

  /// Returns when no worker of another engine is left, or the patience is.
  static func wait(in folder: String) {
    guard let lock = try? OpenFile(path: folder, flags: O_RDONLY | O_DIRECTORY) else { return }
    let deadline = SystemTime.monotonicMs() + patienceMs
    while flock(lock.descriptor, LOCK_EX | LOCK_NB) != 0, SystemTime.monotonicMs() < deadline { usleep(2_000) }
  }
}
