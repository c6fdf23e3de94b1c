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
    // MARK: C modules
    .systemLibrary(
      name: "CCrypto", path: "Sources/CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CCurl", path: "Sources/CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CPlatform", path: "Sources/CPlatform"),

    // MARK: Façades
    .target(name: "Digest", dependencies: ["CCrypto", "Platform"], swiftSettings: strict),
    .target(name: "HTTP", dependencies: ["CCurl", "Platform"], swiftSettings: strict),
    .target(name: "Platform", dependencies: ["CPlatform"], swiftSettings: strict),

    // MARK: Work
    .target(name: "Answers", dependencies: ["HTTP", "JSON", "TaskModel"], swiftSettings: strict),
    .target(
      name: "Delivery", dependencies: ["Answers", "HTTP", "JSON", "Platform", "TaskConfig", "TaskModel"],
      swiftSettings: strict),
    .target(
      name: "Uploads", dependencies: ["Answers", "Digest", "HTTP", "JSON", "Platform", "TaskConfig", "TaskModel"],
      swiftSettings: strict),

    // MARK: Values
    .target(name: "JSON", swiftSettings: strict),
    .target(name: "TaskConfig", dependencies: ["JSON", "TaskModel"], swiftSettings: strict),
    .target(name: "TaskModel", dependencies: ["JSON"], swiftSettings: strict),

    // MARK: Tests
    .testTarget(name: "AnswersTests", dependencies: ["Answers", "HTTP", "JSON", "TaskModel"], swiftSettings: strict),
    .testTarget(
      name: "DeliveryTests",
      dependencies: ["Delivery", "HTTP", "JSON", "TaskConfig", "TaskModel", "TaskTestSupport"], swiftSettings: strict),
    .testTarget(
      name: "DigestTests", dependencies: ["Digest", "Platform", "TaskTestSupport"], swiftSettings: strict),
    .testTarget(name: "HTTPTests", dependencies: ["HTTP", "Platform", "TaskTestSupport"], swiftSettings: strict),
    .testTarget(name: "JSONTests", dependencies: ["JSON"], swiftSettings: strict),
    .testTarget(name: "TaskModelTests", dependencies: ["JSON", "TaskModel"], swiftSettings: strict),
    .target(name: "TaskTestSupport", path: "Tests/TaskTestSupport", swiftSettings: strict),
    .testTarget(
      name: "UploadsTests",
      dependencies: ["HTTP", "JSON", "TaskConfig", "TaskModel", "TaskTestSupport", "Uploads"], swiftSettings: strict),
  ]
)
