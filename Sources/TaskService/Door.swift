import Glibc
public import Platform

/// The engine's Unix socket in the store's folder, for front ends that find an engine running already.
public enum Door {
  public static let socketName = "engine.sock"

  /// Listens, and hands every caller of the same user to `enter`.
  /// - Parameter folder: the store's; the engine's lock is held, so an old socket in it is a dead engine's.
  /// - Throws: `SystemError`.
  public static func open(folder: String, enter: @escaping @Sendable (OpenFile) -> Void) throws(SystemError) {
    let listener = try UnixSocket.listen(folder: folder, name: socketName)
    try OwnThread.start(name: "tc-door") {
      while true {
        do {
          enter(try UnixSocket.accept(listener))
        } catch {
          // Out of descriptors, or a caller that gave up: neither is a reason to close the door.
          usleep(50_000)
        }
      }
    }
  }
}
