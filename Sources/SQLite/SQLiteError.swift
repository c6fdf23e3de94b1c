/// What SQLite answered: result code, its message, and the statement it was about (without the values bound to it, which
/// may be private).
public struct SQLiteError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Extended result code (https://www.sqlite.org/rescode.html).
  public let code: Int32
  public let message: String
  public let sql: String?

  public init(code: Int32, message: String, sql: String? = nil) {
    self.code = code
    self.message = message
    self.sql = sql
  }

  public var description: String { "SQLite error \(code): \(message)" + (sql.map { " in: \($0)" } ?? "") }

  private var primaryCode: Int32 { code & 0xFF }
  /// SQLITE_FULL: the disk, or the largest allowed size of the file.
  public var isDiskFull: Bool { primaryCode == 13 }
  /// SQLITE_CORRUPT or SQLITE_NOTADB.
  public var isCorrupt: Bool { primaryCode == 11 || primaryCode == 26 }
  /// SQLITE_BUSY: another process holds the file.
  public var isBusy: Bool { primaryCode == 5 }
}
