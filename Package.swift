// swift-tools-version: 6.0
// Rules of this file: one block per target, alphabetical within its layer, layers from the bottom up (docs/modules.md has
// the picture and ArchitectureTests reads the imports); dependencies alphabetical; C modules only below their façade.
import PackageDescription

/// Imports stay internal unless a public signature needs them, so that no C type can cross a façade by accident.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
  name: "taskcenter",
  targets: [
    // MARK: Values
    .target(name: "JSON", swiftSettings: strict),
    .target(name: "TaskConfig", dependencies: ["JSON", "TaskModel"], swiftSettings: strict),
    .target(name: "TaskModel", dependencies: ["JSON"], swiftSettings: strict),

    // MARK: C modules
    .systemLibrary(name: "CPlatform", path: "Sources/CPlatform"),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),

    // MARK: Façades
    .target(name: "JSONRPC", dependencies: ["JSON", "Platform"], swiftSettings: strict),
    .target(name: "Platform", dependencies: ["CPlatform"], swiftSettings: strict),
    .target(name: "SQLite", dependencies: ["CSQLite"], swiftSettings: strict),

    // MARK: Work
    .target(name: "SourceFiles", dependencies: ["Platform", "TaskModel"], swiftSettings: strict),
    .target(
      name: "TaskEngine",
      dependencies: ["JSON", "Platform", "SourceFiles", "TaskConfig", "TaskModel", "TaskStorage"],
      swiftSettings: strict),
    .target(
      name: "TaskSchema", path: "schema", resources: [.embedInCode("v1_tasks.sql")],
      swiftSettings: strict),
    .target(
      name: "TaskStorage", dependencies: ["JSON", "SQLite", "TaskModel", "TaskSchema"], swiftSettings: strict),

    // MARK: Service
    .target(name: "TaskProtocol", dependencies: ["JSON", "JSONRPC", "TaskModel"], swiftSettings: strict),
    .target(
      name: "TaskService",
      dependencies: [
        "JSON", "JSONRPC", "Platform", "SQLite", "TaskEngine", "TaskModel", "TaskProtocol", "TaskStorage",
      ], swiftSettings: strict),

    // MARK: Tests
    .testTarget(name: "JSONTests", dependencies: ["JSON"], swiftSettings: strict),
    .testTarget(name: "TaskModelTests", dependencies: ["JSON", "TaskModel"], swiftSettings: strict),
    .testTarget(
      name: "TaskStorageTests", dependencies: ["JSON", "SQLite", "TaskModel", "TaskSchema", "TaskStorage"],
      swiftSettings: strict),
  ]
)
