import Foundation

/// The programs of this package, as built beside the tests.
public enum Programs {
  /// - Throws: `CocoaError` where the program was not built.
  public static func path(_ name: String) throws -> String {
    // The tests may run in a tool of the toolchain; the programs then lie beside the test bundle.
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? own
    for place in [own, bundle] {
      let path = (place as NSString).deletingLastPathComponent + "/" + name
      if FileManager.default.isExecutableFile(atPath: path) { return path }
    }
    throw CocoaError(.fileNoSuchFile)
  }
}
