import Foundation

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
  public var port: Int { process.port }
  public var url: String { process.url }

  public init() throws { process = try ServerProcess("test_server.py") }

  /// - Parameter json: a list of rules, see the script's head.
  public func rules(_ json: String) throws { _ = try Curl.fetch("\(url)/_rules", post: json) }

  public func log() throws -> [Request] {
    try process.log().map {
      Request(
        method: $0["method"] as? String ?? "", path: $0["path"] as? String ?? "",
        headers: $0["headers"] as? [String: String] ?? [:], size: $0["size"] as? Int ?? -1,
        md5: $0["md5"] as? String ?? "", body: $0["body"] as? String ?? "")
    }
  }

  /// Returns once `count` requests have come whose "METHOD PATH" holds `match`.
  public func wait(for match: String, count: Int = 1) async throws {
    let text = match.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? match
    let address = "\(url)/_wait?match=\(text)&count=\(count)"
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      Thread.detachNewThread { continuation.resume(with: Result { _ = try Curl.fetch(address) }) }
    }
  }
}
