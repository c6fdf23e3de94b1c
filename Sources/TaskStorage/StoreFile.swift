import Glibc
public import Platform

/// The database as a file, for what has to be known or done before SQLite may touch it.
public enum StoreFile {
  /// Reads the version from the header (offset 60, https://www.sqlite.org/fileformat.html section 1.3), so that a store
  /// of a newer program is refused without a byte of it being changed: already opening and closing it could be a
  /// checkpoint.
  /// - Returns: the error to refuse it with; nil where there is no store or none that is newer.
  public static func newerVersion(_ path: String) -> StoreError? {
    guard let file = try? OpenFile(path: path, flags: O_RDONLY) else { return nil }
    var header = [UInt8](repeating: 0, count: 100)
    let count = header.withUnsafeMutableBytes { try? file.read(into: $0, at: 0) }
    guard count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else { return nil }
    let version = header[60..<64].reduce(0) { $0 << 8 | Int($1) }
    guard version > Migrator.supportedVersion else { return nil }
    return .newerVersion(found: version, supported: Migrator.supportedVersion)
  }

  /// Moves a damaged store out of the way, with its log; nothing of it is lost.
  /// - Returns: the new path.
  /// - Throws: `SystemError`.
  public static func setAside(_ path: String) throws(SystemError) -> String {
    let aside = "\(path).corrupt-\(SystemTime.wallMs())"
    _ = try systemCall("rename") { rename(path, aside) }
    for ending in ["-wal", "-shm"] { rename(path + ending, aside + ending) }
    return aside
  }
}

extension StoreError {
  public var isNewer: Bool { if case .newerVersion = self { true } else { false } }
}
