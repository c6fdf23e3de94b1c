import Glibc

/// Both ends of a new pipe, closed on exec.
public struct Pipe: Sendable {
  public let read: OpenFile
  public let write: OpenFile

  /// - Throws: `SystemError`.
  public init() throws(SystemError) {
    var ends: [Int32] = [-1, -1]
    _ = try systemCall("pipe") { pipe(&ends) }
    read = OpenFile(owning: ends[0])
    write = OpenFile(owning: ends[1])
    for end in ends { _ = try systemCall("fcntl") { fcntl(end, F_SETFD, FD_CLOEXEC) } }
  }
}
