import CSQLite

/// A value bound to a statement.
public enum SQLValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)

  public init(_ value: String?) { self = value.map(SQLValue.text) ?? .null }
  public init(_ value: Int64?) { self = value.map(SQLValue.integer) ?? .null }
  public init(_ value: Int?) { self = value.map { .integer(Int64($0)) } ?? .null }
  public init(_ value: Double) { self = .real(value) }
  public init(_ value: Bool) { self = .integer(value ? 1 : 0) }
}

/// The current row of a query; valid only inside the closure that it is handed to. Columns count from 0.
public struct Row: ~Copyable {
  private let handle: OpaquePointer
  init(_ handle: OpaquePointer) { self.handle = handle }

  private func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }

  public func int64(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }
  public func int(_ column: Int) -> Int { Int(int64(column)) }
  public func bool(_ column: Int) -> Bool { int64(column) != 0 }
  public func double(_ column: Int) -> Double { sqlite3_column_double(handle, Int32(column)) }
  public func text(_ column: Int) -> String {
    guard let bytes = sqlite3_column_text(handle, Int32(column)) else { return "" }
    let count = Int(sqlite3_column_bytes(handle, Int32(column)))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// Length of the value as text.
  public func byteCount(_ column: Int) -> Int { Int(sqlite3_column_bytes(handle, Int32(column))) }

  public func optionalInt64(_ column: Int) -> Int64? { isNull(column) ? nil : int64(column) }
  public func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }
}
