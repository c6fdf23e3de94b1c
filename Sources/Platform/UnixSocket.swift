import CPlatform
import Glibc

/// Stream sockets that have a name in the file system (unix(7)).
///
/// A name holds at most 107 bytes, so sockets are reached through the descriptor of their folder, which always fits.
public enum UnixSocket {
  /// Listens under `name` in `folder`, in place of any older socket of that name. Only this user can connect.
  /// - Throws: `SystemError`.
  public static func listen(folder: String, name: String) throws(SystemError) -> OpenFile {
    let listener = try make()
    let directory = try OpenFile(path: folder, flags: O_RDONLY | O_DIRECTORY)
    let path = path(in: directory, name)
    unlink(path)
    try withAddress(path) { address, length throws(SystemError) in
      _ = try systemCall("bind") { bind(listener.descriptor, address, length) }
    }
    _ = try systemCall("chmod") { chmod(path, 0o600) }
    _ = try systemCall("listen") { Glibc.listen(listener.descriptor, 16) }
    return listener
  }

  /// Connects to `name` in `folder`.
  /// - Throws: `SystemError`; `isNotFound` or ECONNREFUSED where nobody listens.
  public static func connect(folder: String, name: String) throws(SystemError) -> OpenFile {
    let connection = try make()
    let directory = try OpenFile(path: folder, flags: O_RDONLY | O_DIRECTORY)
    try withAddress(path(in: directory, name)) { address, length throws(SystemError) in
      _ = try systemCall("connect") { Glibc.connect(connection.descriptor, address, length) }
    }
    return connection
  }

  /// Waits for the next caller of the same user; others are turned away.
  /// - Throws: `SystemError`.
  public static func accept(_ listener: OpenFile) throws(SystemError) -> OpenFile {
    while true {
      let connection = OpenFile(owning: try systemCall("accept") { tc_accept(listener.descriptor) })
      if tc_peer_user(connection.descriptor) == Int(getuid()) { return connection }
    }
  }

  /// Ends the connection for both sides, also for a thread that waits to read from it. Nothing happens to what is no socket.
  public static func hangUp(_ connection: OpenFile) { shutdown(connection.descriptor, Int32(SHUT_RDWR)) }

  private static func make() throws(SystemError) -> OpenFile {
    OpenFile(
      owning: try systemCall("socket") { socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0) })
  }

  private static func path(in directory: OpenFile, _ name: String) -> String {
    "/proc/self/fd/\(directory.descriptor)/\(name)"
  }

  private static func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws(SystemError) -> Void
  ) throws(SystemError) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { target in
      target.copyBytes(from: path.utf8.prefix(target.count - 1))
    }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        Result { () throws(SystemError) in try body(raw, length) }
      }
    }
    try result.get()
  }
}
