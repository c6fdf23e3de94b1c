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
    .systemLibrary(
      name: "CArchive", path: "Sources/CArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
    .systemLibrary(
      name: "CFFmpeg", path: "Sources/CFFmpeg", pkgConfig: "libavfilter",
      providers: [.apt(["libavcodec-dev", "libavfilter-dev", "libavformat-dev", "libavutil-dev"])]),
    .systemLibrary(name: "CVips", path: "Sources/CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"])]),

    // MARK: Façades
    .target(name: "Archive", dependencies: ["CArchive"], swiftSettings: strict),
    .target(name: "FFmpeg", dependencies: ["CFFmpeg"], swiftSettings: strict),
    .target(name: "Vips", dependencies: ["CVips"], swiftSettings: strict),

    // MARK: Work
    .target(name: "ExportProtocol", dependencies: ["JSON", "TaskModel"], swiftSettings: strict),
    .target(name: "LogArchive", dependencies: ["Archive", "ExportProtocol", "TaskModel"], swiftSettings: strict),
    .target(
      name: "MediaExport", dependencies: ["ExportProtocol", "FFmpeg", "TaskModel", "Vips"], swiftSettings: strict),

    // MARK: Programs
    .executableTarget(
      name: "taskcenter-export", dependencies: ["ExportProtocol", "JSON", "LogArchive", "MediaExport", "TaskModel"],
      path: "Sources/taskcenter-export", swiftSettings: strict),

    // MARK: Tests
    .testTarget(
      name: "ExportProtocolTests", dependencies: ["ExportProtocol", "JSON", "TaskModel"], swiftSettings: strict),
    .testTarget(name: "JSONTests", dependencies: ["JSON"], swiftSettings: strict),
    .testTarget(
      name: "MediaExportTests",
      dependencies: [
        "Archive", "ExportProtocol", "FFmpeg", "JSON", "LogArchive", "MediaExport", "TaskModel", "taskcenter-export",
      ],
      swiftSettings: strict),
    .testTarget(name: "TaskModelTests", dependencies: ["JSON", "TaskModel"], swiftSettings: strict),
  ]
)
