public import Foundation

/// The tests' own way to a server, independent of the client under test.
public enum Curl {
  public struct Failed: Error {
    public let arguments: [String]
  }

  public static func fetch(_ url: String, post body: String? = nil) throws -> Data {
    // By way of a file: an argument is 128 KiB at most.
    let folder = try body.map { _ in try TemporaryFolder() }
    let path = try folder?.write(Data((body ?? "").utf8), to: "body")
    return try withExtendedLifetime(folder) {
      try run(["-fsS", "--noproxy", "*"] + (path.map { ["--data-binary", "@\($0)"] } ?? []) + [url])
    }
  }

  public static func run(_ arguments: [String]) throws -> Data { try Command.run("curl", arguments) }
}

public enum Command {
  /// What `program` says on standard output.
  /// - Throws: `Curl.Failed` where it does not end with status 0.
  public static func run(_ program: String, _ arguments: [String]) throws -> Data {
    var output: Pipe?
    let process = try Spawning.start {
      let pipe = Pipe()
      output = pipe
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = [program] + arguments
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = pipe
      return process
    }
    let data = output?.fileHandleForReading.readDataToEndOfFile() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Curl.Failed(arguments: [program] + arguments) }
    return data
  }
}
