// swift-tools-version: 6.0
// Rules of this file: layers from the top down, one MARK each, targets alphabetical within a layer, dependencies
// alphabetical; C modules only below their façade. docs/modules.md has the picture; ArchitectureTests holds the sources
// and the page to this file.
import PackageDescription

/// Imports stay internal unless a public signature needs them, so that no C type can cross a façade by accident.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
  name: "taskcenter",
  products: [
    // Linked with libFuzzer by `make fuzz`.
    .library(name: "FuzzTargets", type: .static, targets: ["FuzzTargets"])
  ],
  targets: [
    // MARK: Programs
    .executableTarget(
      name: "taskcenter",
      dependencies: ["JSON", "JSONRPC", "MediaTypes", "Platform", "SourceFiles", "TaskModel", "TaskProtocol"],
      path: "clients/taskcenter", swiftSettings: strict),
    .executableTarget(
      name: "taskcenter-export",
      dependencies: ["ExportProtocol", "JSON", "LogArchive", "MediaExport", "Platform", "Sandbox", "TaskModel"],
      swiftSettings: strict),
    .executableTarget(
      name: "taskcenterd",
      dependencies: [
        "Answers", "Delivery", "Exports", "Fetches", "HTTP", "JSON", "Platform", "SQLite", "TaskConfig", "TaskEngine",
        "TaskModel", "TaskService", "TaskStorage", "Uploads",
      ], swiftSettings: strict),

    // MARK: Service
    .target(name: "TaskProtocol", dependencies: ["JSON", "JSONRPC", "TaskModel"], swiftSettings: strict),
    .target(
      name: "TaskService",
      dependencies: [
        "JSON", "JSONRPC", "Platform", "SQLite", "TaskEngine", "TaskModel", "TaskProtocol", "TaskStorage",
      ], resources: [.embedInCode("openrpc.json")], swiftSettings: strict),

    // MARK: Work
    .target(
      name: "Answers", dependencies: ["HTTP", "JSON", "Platform", "TaskConfig", "TaskModel"], swiftSettings: strict),
    .target(
      name: "Delivery", dependencies: ["Answers", "HTTP", "JSON", "Platform", "TaskConfig", "TaskModel"],
      swiftSettings: strict),
    .target(name: "ExportProtocol", dependencies: ["JSON", "TaskModel"], swiftSettings: strict),
    .target(
      name: "Exports",
      dependencies: ["Digest", "ExportProtocol", "JSON", "Platform", "SourceFiles", "TaskConfig", "TaskModel"],
      swiftSettings: strict),
    .target(
      name: "Fetches",
      dependencies: ["Answers", "HTTP", "MediaTypes", "Platform", "SourceFiles", "TaskConfig", "TaskModel"],
      swiftSettings: strict),
    .target(
      name: "LogArchive", dependencies: ["Archive", "ExportProtocol", "MediaTypes", "TaskModel"], swiftSettings: strict),
    .target(
      name: "MediaExport", dependencies: ["ExportProtocol", "FFmpeg", "MediaTypes", "TaskModel", "Vips"],
      swiftSettings: strict),
    .target(name: "SourceFiles", dependencies: ["MediaTypes", "Platform", "TaskModel"], swiftSettings: strict),
    .target(
      name: "TaskEngine",
      dependencies: ["JSON", "MediaTypes", "Platform", "SourceFiles", "TaskConfig", "TaskModel", "TaskStorage"],
      swiftSettings: strict),
    .target(
      name: "TaskSchema", path: "schema", exclude: ["config.schema.json"], sources: ["TaskSchema.swift"],
      resources: [.embedInCode("v1_tasks.sql"), .embedInCode("v2_resumable_uploads.sql")],
      swiftSettings: strict),
    .target(
      name: "TaskStorage", dependencies: ["JSON", "Platform", "SQLite", "TaskModel", "TaskSchema"],
      swiftSettings: strict),
    .target(
      name: "Uploads", dependencies: ["Answers", "Digest", "HTTP", "JSON", "Platform", "TaskConfig", "TaskModel"],
      swiftSettings: strict),

    // MARK: Façades
    .target(name: "Archive", dependencies: ["CArchive"], swiftSettings: strict),
    .target(name: "Digest", dependencies: ["CCrypto", "Platform"], swiftSettings: strict),
    .target(name: "FFmpeg", dependencies: ["CFFmpeg"], swiftSettings: strict),
    .target(name: "HTTP", dependencies: ["CCurl", "Platform"], swiftSettings: strict),
    .target(name: "JSONRPC", dependencies: ["JSON", "Platform"], swiftSettings: strict),
    .target(name: "Sandbox", dependencies: ["CSandbox"], swiftSettings: strict),
    .target(name: "SQLite", dependencies: ["CSQLite"], swiftSettings: strict),
    .target(name: "Vips", dependencies: ["CVips"], swiftSettings: strict),

    // MARK: Values, and the system's calls
    .target(name: "JSON", swiftSettings: strict),
    .target(name: "MediaTypes", swiftSettings: strict),
    .target(name: "Platform", dependencies: ["CPlatform"], swiftSettings: strict),
    .target(name: "TaskConfig", dependencies: ["JSON", "Platform", "TaskModel"], swiftSettings: strict),
    .target(name: "TaskModel", dependencies: ["JSON"], swiftSettings: strict),

    // MARK: C modules
    .systemLibrary(name: "CArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    // Without pkgConfig, which would link libcurl: it is loaded at the first request (shim.h says why).
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(
      name: "CFFmpeg", pkgConfig: "libavfilter",
      providers: [.apt(["libavcodec-dev", "libavfilter-dev", "libavformat-dev", "libavutil-dev"])]),
    .systemLibrary(name: "CPlatform"),
    .systemLibrary(name: "CSandbox"),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"])]),

    // MARK: Tests
    .testTarget(name: "AnswersTests", dependencies: ["Answers", "HTTP", "JSON", "TaskModel"], swiftSettings: strict),
    .testTarget(name: "ArchitectureTests", dependencies: ["TaskModel"], swiftSettings: strict),
    .testTarget(
      name: "ClientTests",
      dependencies: ["JSON", "JSONRPC", "MediaTypes", "SourceFiles", "TaskModel", "TaskProtocol", "taskcenter"],
      swiftSettings: strict),
    .testTarget(
      name: "DeliveryTests",
      dependencies: ["Delivery", "HTTP", "JSON", "TaskConfig", "TaskModel", "TaskTestSupport"], swiftSettings: strict),
    .testTarget(
      name: "DigestTests", dependencies: ["Digest", "Platform", "TaskTestSupport"], swiftSettings: strict),
    .testTarget(
      name: "ExportProtocolTests", dependencies: ["ExportProtocol", "JSON", "TaskModel"], swiftSettings: strict),
    .testTarget(
      name: "ExportsTests",
      dependencies: [
        "Exports", "ExportProtocol", "Platform", "TaskConfig", "TaskModel", "TaskTestSupport", "taskcenter-export",
      ], swiftSettings: strict),
    .testTarget(
      name: "FetchesTests",
      dependencies: ["Fetches", "HTTP", "Platform", "SourceFiles", "TaskConfig", "TaskModel", "TaskTestSupport"],
      swiftSettings: strict),
    .executableTarget(
      name: "fuzz-runner", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Runner", swiftSettings: strict),
    .target(
      name: "FuzzTargets",
      dependencies: ["ExportProtocol", "JSON", "JSONRPC", "MediaTypes", "TaskModel", "TaskProtocol"],
      path: "Tests/Fuzz/Targets", swiftSettings: strict),
    .testTarget(name: "HTTPTests", dependencies: ["HTTP", "Platform", "TaskTestSupport"], swiftSettings: strict),
    .testTarget(name: "JSONTests", dependencies: ["JSON"], swiftSettings: strict),
    .testTarget(
      name: "MediaExportTests",
      dependencies: [
        "Archive", "ExportProtocol", "FFmpeg", "JSON", "LogArchive", "MediaExport", "Platform", "TaskModel",
        "TaskTestSupport", "taskcenter-export",
      ], swiftSettings: strict),
    .testTarget(name: "MediaTypesTests", dependencies: ["MediaTypes"], swiftSettings: strict),
    .executableTarget(
      name: "sandbox-probe", dependencies: ["Sandbox"], path: "Tests/SandboxProbe", swiftSettings: strict),
    .testTarget(
      name: "SandboxTests", dependencies: ["Sandbox", "TaskTestSupport", "sandbox-probe"], swiftSettings: strict),
    .testTarget(name: "TaskConfigTests", dependencies: ["JSON", "TaskConfig"], swiftSettings: strict),
    .testTarget(
      name: "TaskEngineTests",
      dependencies: ["JSON", "SQLite", "TaskConfig", "TaskEngine", "TaskModel", "TaskStorage", "TaskTestSupport"],
      swiftSettings: strict),
    .testTarget(name: "TaskModelTests", dependencies: ["JSON", "TaskModel"], swiftSettings: strict),
    .testTarget(
      name: "TaskStorageTests", dependencies: ["JSON", "SQLite", "TaskModel", "TaskSchema", "TaskStorage"],
      swiftSettings: strict),
    .target(
      name: "TaskTestSupport", dependencies: ["JSON", "TaskModel"], path: "Tests/TaskTestSupport", swiftSettings: strict
    ),
    .testTarget(
      name: "UploadsTests",
      dependencies: ["HTTP", "JSON", "TaskConfig", "TaskModel", "TaskTestSupport", "Uploads"], swiftSettings: strict),
  ]
)
