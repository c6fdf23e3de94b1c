public import Foundation

/// Tests/Servers/test_server.py: answers by rules and remembers requests.
public final class TestServer: Sendable {
  public struct Request: Sendable {
    public let method: String
    public let path: String
    /// Names in lower case.
    public let headers: [String: String]
    public let size: Int
    public let md5: String
    public let body: String
  }

  private let process: ServerProcess
  public let port: Int
  public var url: String { "http://127.0.0.1:\(port)" }

  public init() throws {
    process = try ServerProcess("test_server.py")
    port = Int(process.words[0]) ?? 0
  }

  /// - Parameter json: a list of rules, see the script's head.
  public func rules(_ json: String) throws { _ = try Curl.fetch("\(url)/_rules", post: json) }

  public func log() throws -> [Request] { try Self.parse(try Curl.fetch("\(url)/_log")) }

  /// Returns once `count` requests have come whose "METHOD PATH" holds `match`.
  public func wait(for match: String, count: Int = 1) async throws {
    let text = match.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? match
    let address = "\(url)/_wait?match=\(text)&count=\(count)"
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      Thread.detachNewThread { continuation.resume(with: Result { _ = try Curl.fetch(address) }) }
    }
  }

  private static func parse(_ data: Data) throws -> [Request] {
    let list = try JSONSerialization.jsonObject(with: data) as? [[String: Any]] ?? []
    return list.map {
      Request(
        method: $0["method"] as? String ?? "", path: $0["path"] as? String ?? "",
        headers: $0["headers"] as? [String: String] ?? [:], size: $0["size"] as? Int ?? -1,
        md5: $0["md5"] as? String ?? "", body: $0["body"] as? String ?? "")
    }
  }
}

/// Tests/Servers/flaky_proxy.py in front of another server.
public final class FlakyProxy: Sendable {
  private let process: ServerProcess
  public var url: String { "http://\(process.words[0])" }

  /// - Parameter rule: see the script's head.
  public init(targetPort: Int, rule: String) throws {
    process = try ServerProcess(
      "flaky_proxy.py", ["--until-eof", "--target", "127.0.0.1:\(targetPort)", "--rule", rule])
  }

  /// Replaces the rules; none: everything passes.
  public func rules(_ text: String) throws { _ = try Curl.fetch("http://\(process.words[1])/rules", post: text) }

  /// Body bytes that really passed.
  public func bodyBytes() throws -> Int { try stat("body_bytes") }

  public func requests() throws -> Int { try stat("requests") }

  private func stat(_ name: String) throws -> Int {
    let data = try Curl.fetch("http://\(process.words[1])/stats")
    return (try JSONSerialization.jsonObject(with: data) as? [String: Any])?[name] as? Int ?? -1
  }
}

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
