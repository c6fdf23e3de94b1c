import CArchive
import Glibc

/// Why libarchive could not go on.
public struct ArchiveError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The system's error number, where it was the system.
  public let errno: Int32
  public let message: String

  public init(errno: Int32, message: String) {
    self.errno = errno
    self.message = message
  }

  public var description: String { message }
}

// archive_entry.h has these as casts, and sys/stat.h's come in twice.
private let regularFile = 0o100000
private let directory = 0o040000

/// Writes a zip: deflated, names in UTF-8, Zip64 where it is needed. Owners do not go in.
public final class ZipWriter {
  private let archive: OpaquePointer
  private let utf8: locale_t

  public enum Kind: Sendable {
    /// - Parameter stores: as the bytes are, without trying to make them fewer.
    case file(size: Int64, permissions: UInt32, stores: Bool = false)
    case folder
  }

  /// - Parameter descriptor: to write to; stays the caller's.
  public init(descriptor: Int32) throws(ArchiveError) {
    // libarchive marks a name as UTF-8 only under a UTF-8 locale; it is set for this thread while libarchive runs, as a
    // process that was started without one must write the same bytes.
    guard let utf8 = newlocale(1 << LC_CTYPE, "C.UTF-8", nil) else {
      throw ArchiveError(errno: Glibc.errno, message: "the locale C.UTF-8 is missing")
    }
    guard let archive = archive_write_new() else {
      freelocale(utf8)
      throw ArchiveError(errno: ENOMEM, message: "out of memory")
    }
    self.utf8 = utf8
    self.archive = archive
    try check(archive_write_set_format_zip(archive))
    try check(archive_write_set_options(archive, "zip:compression=deflate,zip:compression-level=6"))
    // Without padding to tape blocks.
    try check(archive_write_set_bytes_in_last_block(archive, 1))
    try check(archive_write_open_fd(archive, descriptor))
  }

  deinit {
    archive_write_free(archive)
    freelocale(utf8)
  }

  /// Begins an entry; its bytes follow by `write`.
  /// - Parameters:
  ///   - name: relative, with "/" between folders.
  ///   - modified: seconds since 1970.
  public func begin(_ name: String, kind: Kind, modified: Int64) throws(ArchiveError) {
    guard let entry = archive_entry_new() else { throw ArchiveError(errno: ENOMEM, message: "out of memory") }
    defer { archive_entry_free(entry) }
    try inUTF8 { () throws(ArchiveError) in
      archive_entry_set_pathname(entry, name)
      archive_entry_set_mtime(entry, time_t(modified), 0)
      switch kind {
      case .file(let size, let permissions, let stores):
        try check(
          stores ? archive_write_zip_set_compression_store(archive) : archive_write_zip_set_compression_deflate(archive)
        )
        archive_entry_set_filetype(entry, UInt32(regularFile))
        archive_entry_set_perm(entry, mode_t(permissions & 0o777))
        archive_entry_set_size(entry, size)
      case .folder:
        archive_entry_set_filetype(entry, UInt32(directory))
        archive_entry_set_perm(entry, 0o755)
      }
      try check(archive_write_header(archive, entry))
    }
  }

  /// What deflating makes of `bytes`, as a share of them; nil where it can't be tried.
  public static func deflatedShare(of bytes: UnsafeRawBufferPointer) -> Double? {
    guard !bytes.isEmpty, let archive = archive_write_new() else { return nil }
    defer { archive_write_free(archive) }
    // Dense bytes become a little more; and the names stand around them.
    var output = [UInt8](repeating: 0, count: bytes.count + bytes.count / 100 + 4096)
    var used = 0
    return output.withUnsafeMutableBytes { output in
      // The archive writes into both until it is closed, below.
      guard archive_write_set_format_zip(archive) == ARCHIVE_OK,
        archive_write_zip_set_compression_deflate(archive) == ARCHIVE_OK,
        archive_write_set_bytes_in_last_block(archive, 1) == ARCHIVE_OK,
        withUnsafeMutablePointer(
          to: &used, { archive_write_open_memory(archive, output.baseAddress, output.count, $0) })
          == ARCHIVE_OK,
        let entry = archive_entry_new()
      else { return nil }
      defer { archive_entry_free(entry) }
      archive_entry_set_pathname(entry, "x")
      archive_entry_set_filetype(entry, UInt32(regularFile))
      archive_entry_set_size(entry, Int64(bytes.count))
      guard archive_write_header(archive, entry) == ARCHIVE_OK,
        archive_write_data(archive, bytes.baseAddress, bytes.count) == bytes.count,
        archive_write_close(archive) == ARCHIVE_OK
      else { return nil }
      return Double(used) / Double(bytes.count)
    }
  }

  /// - Parameter bytes: the next ones of the entry, up to the size that was named in all.
  public func write(_ bytes: UnsafeRawBufferPointer) throws(ArchiveError) {
    var rest = bytes
    while !rest.isEmpty {
      let written = archive_write_data(archive, rest.baseAddress, rest.count)
      guard written > 0 else { throw failure() }
      rest = UnsafeRawBufferPointer(rebasing: rest[written...])
    }
  }

  /// Writes the index; nothing may follow.
  public func finish() throws(ArchiveError) {
    try inUTF8 { () throws(ArchiveError) in try check(archive_write_close(archive)) }
  }

  private func inUTF8(_ body: () throws(ArchiveError) -> Void) throws(ArchiveError) {
    let before = uselocale(utf8)
    defer { uselocale(before) }
    try body()
  }

  private func check(_ result: Int32) throws(ArchiveError) {
    // A warning (-20) is about a detail such as an attribute that zip cannot hold.
    guard result >= ARCHIVE_WARN else { throw failure() }
  }

  private func failure() -> ArchiveError {
    let message = archive_error_string(archive).map { String(cString: $0) } ?? "unknown error"
    return ArchiveError(errno: archive_errno(archive), message: message)
  }
}
