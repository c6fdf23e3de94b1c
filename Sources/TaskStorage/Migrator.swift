import SQLite
import TaskSchema

/// Brings a store to this program's version, one migration per transaction, in order.
enum Migrator {
  static var supportedVersion: Int { TaskSchema.migrations.count }

  /// - Throws: `StoreError.newerVersion` before anything is written.
  static func migrate(_ connection: Connection) throws {
    let found = try connection.first("PRAGMA user_version") { $0.int(0) } ?? 0
    guard found <= supportedVersion else {
      throw StoreError.newerVersion(found: found, supported: supportedVersion)
    }
    for (index, script) in TaskSchema.migrations.enumerated().dropFirst(found) {
      // The version lies in the database header and is rolled back with everything else.
      try connection.execute(script: "BEGIN IMMEDIATE;\n\(script)\nPRAGMA user_version = \(index + 1);\nCOMMIT;")
    }
  }
}
