import Foundation

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
