import CSQLite

/// One open database. Not `Sendable` on purpose: whoever opens it owns it and lends it to closures on one queue, so the
/// library runs without its own mutexes (SQLITE_OPEN_NOMUTEX, https://www.sqlite.org/threadsafe.html).
public final class Connection {
  private let handle: OpaquePointer
  private var statements: [String: Statement] = [:]

  /// Opens or creates `path`.
  /// - Throws: `SQLiteError`.
  public init(path: String) throws {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(path, &handle, flags, nil)
    guard code == SQLITE_OK, let handle else {
      let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close_v2(handle)
      throw SQLiteError(code: code, message: "\(message): \(path)")
    }
    self.handle = handle
  }

  deinit {
    statements.removeAll()
    sqlite3_close_v2(handle)
  }

  /// How long a statement waits for another process's lock before it fails with SQLITE_BUSY.
  public func setBusyTimeout(milliseconds: Int32) { sqlite3_busy_timeout(handle, milliseconds) }

  /// Runs one or more statements that take no values and whose rows nobody wants.
  public func execute(script: String) throws {
    let code = sqlite3_exec(handle, script, nil, nil, nil)
    guard code == SQLITE_OK else { throw error(code, sql: nil) }
  }

  /// Runs one statement to its end.
  public func execute(_ sql: String, _ values: [SQLValue] = []) throws {
    try statement(sql).run(values) { _ in }
  }

  /// Every row of one query, turned into a value.
  public func query<T>(_ sql: String, _ values: [SQLValue] = [], _ row: (borrowing Row) throws -> T) throws -> [T] {
    var results: [T] = []
    try statement(sql).run(values) { results.append(try row($0)) }
    return results
  }

  public func first<T>(_ sql: String, _ values: [SQLValue] = [], _ row: (borrowing Row) throws -> T) throws -> T? {
    try query(sql, values, row).first
  }

  public var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(handle) }
  /// Rows that the last INSERT, UPDATE or DELETE touched.
  public var changes: Int { Int(sqlite3_changes(handle)) }

  /// Prepared once, kept for the life of the connection.
  private func statement(_ sql: String) throws -> Statement {
    if let cached = statements[sql], !cached.isBusy { return cached }
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let prepared else { throw error(code, sql: sql) }
    let statement = Statement(prepared, sql: sql, connection: self)
    if statements[sql] == nil { statements[sql] = statement }
    return statement
  }

  func error(_ code: Int32, sql: String?) -> SQLiteError {
    SQLiteError(code: code, message: String(cString: sqlite3_errmsg(handle)), sql: sql)
  }
}

/// A prepared statement; reset after every run, so that none stays busy.
final class Statement {
  private let handle: OpaquePointer
  private let sql: String
  private unowned let connection: Connection
  private(set) var isBusy = false

  init(_ handle: OpaquePointer, sql: String, connection: Connection) {
    self.handle = handle
    self.sql = sql
    self.connection = connection
  }

  deinit { sqlite3_finalize(handle) }

  func run(_ values: [SQLValue], _ row: (borrowing Row) throws -> Void) throws {
    isBusy = true
    defer {
      sqlite3_reset(handle)
      sqlite3_clear_bindings(handle)
      isBusy = false
    }
    for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
    while true {
      switch sqlite3_step(handle) {
      case SQLITE_ROW: try row(Row(handle))
      case SQLITE_DONE: return
      case let code: throw connection.error(code, sql: sql)
      }
    }
  }

  private func bind(_ value: SQLValue, at index: Int32) throws {
    let code =
      switch value {
      case .null: sqlite3_bind_null(handle, index)
      case .integer(let number): sqlite3_bind_int64(handle, index, number)
      case .real(let number): sqlite3_bind_double(handle, index, number)
      case .text(let text): tc_bind_text(handle, index, text, Int32(text.utf8.count))
      }
    guard code == SQLITE_OK else { throw connection.error(code, sql: sql) }
  }
}
