import SQLite
import TaskSchema

/// Brings a store to this program's version, one migration per transaction, in order. A new store is made in one: nobody
/// has seen the versions between, and each transaction waits for the disk.
enum Migrator {
  static var supportedVersion: Int { TaskSchema.migrations.count }

  /// - Throws: `StoreError.newerVersion` before anything is written.
  static func migrate(_ connection: Connection) throws {
    let found = try connection.first("PRAGMA user_version") { $0.int(0) } ?? 0
    guard found <= supportedVersion else {
      throw StoreError.newerVersion(found: found, supported: supportedVersion)
    }
    if found == 0 {
      return try run(TaskSchema.migrations.joined(separator: "\n"), version: supportedVersion, connection)
    }
    for (index, script) in TaskSchema.migrations.enumerated().dropFirst(found) {
      try run(script, version: index + 1, connection)
    }
  }

  /// The version lies in the database header and is rolled back with everything else.
  private static func run(_ script: String, version: Int, _ connection: Connection) throws {
    try connection.execute(script: "BEGIN IMMEDIATE;\n\(script)\nPRAGMA user_version = \(version);\nCOMMIT;")
  }
}
