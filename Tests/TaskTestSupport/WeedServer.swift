public import Foundation

/// SeaweedFS: S3 with the bucket `media`, and what a test looks at it with.
public final class WeedServer: Sendable {
  public static let region = "us-east-1"
  /// May read, write and list `media`.
  public static let key = "upkey"
  public static let secret = "upsecret0123456789"

  private let process: ServerProcess
  public let port: Int
  /// Where tus is spoken, and files of buckets can be read unsigned.
  public let filerPort: Int
  public var url: String { "http://127.0.0.1:\(port)" }

  private static let shared = Result { try WeedServer() }

  /// One for all tests of a run: buckets are large, and a start takes a second.
  public static func running() throws -> WeedServer { try shared.get() }

  private init() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/taskcenter-weed-" + UUID().uuidString
    process = try ServerProcess("start-weed.sh", [folder, "temporary"])
    port = process.port
    filerPort = Int(process.words[1]) ?? 0
  }

  /// A request that curl signs with all rights.
  /// - Parameter target: path and query, encoded the way AWS does.
  public func fetch(_ target: String, _ arguments: [String] = []) throws -> Data {
    try Curl.run(
      [
        "-fsS", "--noproxy", "*", "--path-as-is", "--aws-sigv4", "aws:amz:\(Self.region):s3", "--user",
        "testkey:testsecret0123456789",
      ] + arguments + [url + target])
  }

  /// Ids of the uploads that were begun below `prefix` and are neither joined nor taken back.
  public func openUploads(_ prefix: String) throws -> [String] {
    let encoded = prefix.replacingOccurrences(of: "/", with: "%2F")
    let text = String(decoding: try fetch("/media?prefix=\(encoded)&uploads="), as: UTF8.self)
    return text.components(separatedBy: "<UploadId>").dropFirst().compactMap {
      $0.components(separatedBy: "<").first
    }
  }
}
