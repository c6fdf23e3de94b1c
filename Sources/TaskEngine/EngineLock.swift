import Glibc
public import Platform

/// One engine owns a store at a time, by a lock of the kernel: it ends with its process, however that ends, so a dead
/// engine never blocks the next one and a recycled pid never looks like a live one.
public struct EngineLock: Sendable {
  private let file: OpenFile

  /// - Returns: nil where another process holds it.
  /// - Throws: `SystemError` where the lock file can't be made.
  public static func take(folder: String) throws(SystemError) -> EngineLock? {
    // Closed on exec: a worker must not inherit the lock and outlive the engine with it.
    let file = try OpenFile(path: folder + "/lock", flags: O_RDWR | O_CREAT, mode: 0o600)
    do {
      _ = try systemCall("flock") { flock(file.descriptor, LOCK_EX | LOCK_NB) }
    } catch  where error.number == EWOULDBLOCK {
      return nil
    }
    return EngineLock(file: file)
  }
}
