import Glibc
public import Platform
import SQLite

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

  /// Makes a new store beside its place and renames it when it is whole: a crash leaves none or a good one, and the disk is
  /// waited for twice instead of nine times.
  /// - Throws: `SQLiteError`, `SystemError`.
  static func createIfMissing(_ path: String) throws {
    // A log without its database is none of a new one's, and SQLite itself knows best what to do with it.
    guard ["", "-wal", "-shm", "-journal"].allSatisfy({ access(path + $0, F_OK) != 0 }) else { return }
    let beside = path + ".new"
    for ending in ["", "-wal", "-shm", "-journal"] { unlink(beside + ending) }
    do {
      let connection = try Connection(path: beside)
      try connection.execute(script: "PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL;")
      try Migrator.migrate(connection)
      // The last connection to close takes the log into the database and removes it.
    }
    try OpenFile(path: beside, flags: O_RDWR).sync()
    _ = try systemCall("rename") { rename(beside, path) }
    try Folder.sync(Folder.parent(of: path))
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
