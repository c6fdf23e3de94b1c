import Glibc

/// Owns one file descriptor and closes it with its last reference.
public final class OpenFile: Sendable {
  public let descriptor: Int32

  /// Takes the descriptor over.
  public init(owning descriptor: Int32) { self.descriptor = descriptor }

  /// Never inherited by a child and never a controlling terminal.
  /// - Parameters:
  ///   - flags: as of open(2), such as `O_RDONLY`.
  ///   - mode: for a file that is made, before the umask.
  /// - Throws: `SystemError`.
  public init(path: String, flags: Int32, mode: UInt32 = 0o644) throws(SystemError) {
    descriptor = try systemCall("open") { open(path, flags | O_CLOEXEC | O_NOCTTY, mode) }
  }

  deinit { close(descriptor) }

  /// - Throws: `SystemError`.
  public func status() throws(SystemError) -> FileStatus {
    var raw = stat()
    _ = try systemCall("fstat") { fstat(descriptor, &raw) }
    return FileStatus(raw)
  }

  /// Bytes from `offset` into `buffer`; 0 at the end of the file.
  /// - Throws: `SystemError`.
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
    try systemCall("read") { pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)) }
  }

  /// All of `bytes` at the file's own position, or the end where it was opened with `O_APPEND`.
  /// - Throws: `SystemError`; a part may have been written.
  public func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = try systemCall("write") { Glibc.write(descriptor, rest.baseAddress, rest.count) }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
  }

  /// Returns when content and size are on the disk.
  /// - Throws: `SystemError`.
  public func sync() throws(SystemError) { _ = try systemCall("fsync") { fsync(descriptor) } }

  /// - Throws: `SystemError`.
  public func truncate(to size: Int64) throws(SystemError) {
    _ = try systemCall("ftruncate") { ftruncate(descriptor, off_t(size)) }
  }
}

/// What fstat(2) says, as far as anybody here asks.
public struct FileStatus: Sendable, Hashable {
  public let isRegular: Bool
  /// Bytes.
  public let size: Int64
  /// Nanoseconds since 1970.
  public let modifiedNs: Int64
  public let device: UInt64
  public let inode: UInt64

  init(_ raw: stat) {
    isRegular = raw.st_mode & S_IFMT == S_IFREG
    size = Int64(raw.st_size)
    modifiedNs = Int64(raw.st_mtim.tv_sec) * 1_000_000_000 + Int64(raw.st_mtim.tv_nsec)
    device = UInt64(raw.st_dev)
    inode = UInt64(raw.st_ino)
  }

  /// - Throws: `SystemError`.
  public static func of(path: String) throws(SystemError) -> FileStatus {
    var raw = stat()
    _ = try systemCall("stat") { stat(path, &raw) }
    return FileStatus(raw)
  }
}
