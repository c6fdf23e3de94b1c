public import JSON
import SQLite

/// An upload that was begun and that nobody will finish.
public struct AbandonedUpload: Sendable, Hashable {
  public let id: Int64
  public let destination: String
  /// What the upload protocol had saved.
  public let state: JSONValue
  /// Milliseconds since 1970.
  public let abandonedAt: Int64
}

extension StoreTransaction {
  /// Remembers, together with the change that made it useless, that the server is to be told.
  public func abandon(_ state: JSONValue, destination: String) throws {
    try connection.execute(
      "INSERT INTO abandoned_uploads (destination, state, abandoned_at) VALUES (?, ?, ?)",
      [.text(destination), .text(JSONWriter.text(state)), .integer(now)])
  }

  /// Oldest first.
  public func abandonedUploads() throws -> [AbandonedUpload] {
    try connection.query("SELECT id, destination, state, abandoned_at FROM abandoned_uploads ORDER BY id", []) { row in
      AbandonedUpload(
        id: row.int64(0), destination: row.text(1), state: try JSONParser.parse(row.text(2)), abandonedAt: row.int64(3))
    }
  }

  /// The server has understood, or never will.
  public func forget(_ upload: AbandonedUpload) throws {
    try connection.execute("DELETE FROM abandoned_uploads WHERE id = ?", [.integer(upload.id)])
  }
}
