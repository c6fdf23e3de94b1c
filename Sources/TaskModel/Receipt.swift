public import JSON

/// The proof of one upload, which the business service checks against what is stored (docs/server-contract.md).
public struct Receipt: Sendable, Hashable {
  public static let version: Int64 = 1

  public var url: String
  public var mime: String
  /// Bytes that went up.
  public var size: Int64
  /// Of the bytes that went up, lower-case hex.
  public var md5: String
  public var sha256: String
  /// As the storage gave it; not a digest of anything in general.
  public var etag: String?
  public var name: String
  /// Displayed pixels.
  public var width: Int?
  public var height: Int?
  public var durationMs: Int64?

  public init(
    url: String, mime: String, size: Int64, md5: String, sha256: String, etag: String? = nil, name: String,
    width: Int? = nil, height: Int? = nil, durationMs: Int64? = nil
  ) {
    self.url = url
    self.mime = mime
    self.size = size
    self.md5 = md5
    self.sha256 = sha256
    self.etag = etag
    self.name = name
    self.width = width
    self.height = height
    self.durationMs = durationMs
  }

  /// Whether the storage's tag says what the MD5 is; nil where it does not look like one. False is no error: storage that
  /// encrypts by a key of its own gives tags that are no digests (boto/boto3#750).
  public var etagMatchesMd5: Bool? {
    etag.flatMap { Self.tag($0, says: md5) }
  }

  /// Whether a storage's tag says what the MD5 is; nil where it does not look like one.
  public static func tag(_ tag: String, says md5: String) -> Bool? {
    guard tag.utf8.count == 32, tag.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
    return tag.lowercased() == md5
  }

  /// The fields that exist, no others.
  public var json: JSONValue {
    var object = JSONObject([
      ("v", .int(Self.version)), ("url", .string(url)), ("mime", .string(mime)), ("size", .int(size)),
      ("md5", .string(md5)), ("sha256", .string(sha256)), ("name", .string(name)),
    ])
    object["etag"] = etag.map(JSONValue.string)
    object["width"] = width.map(JSONValue.int)
    object["height"] = height.map(JSONValue.int)
    object["durationMs"] = durationMs.map(JSONValue.int)
    return .object(object)
  }

  /// Canonical JSON (RFC 8785): what is stored, delivered and checked.
  public var text: String { CanonicalJSON.text(json) }
}
