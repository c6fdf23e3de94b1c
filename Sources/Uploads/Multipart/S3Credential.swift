import Answers
import JSON

/// The right to upload one object by S3's multipart calls.
enum MultipartCredential: Sendable, Hashable {
  case presigned(PresignedMultipart)
  case signedHere(S3Credential)
}

/// URLs that the service has signed, for one upload that it has begun.
struct PresignedMultipart: Sendable, Hashable {
  /// ListParts answers no more at once ("ListParts", Amazon S3 API Reference).
  static let partsOnPage = 1_000

  var uploadId: String
  /// Bytes; the last part may be shorter.
  var partSize: Int64
  var parts: [Int: String]
  /// ListParts, a page of 1,000 part numbers each: the first one, the one after part 1,000, and so on.
  var listUrls: [String] = []
  var completeUrl: String
  var abortUrl: String?
  var publicUrl: String
}

/// Keys, to sign requests for one object with.
struct S3Credential: Sendable, Hashable {
  var object: S3Object
  var accessKeyId: String
  var secretAccessKey: String
  var sessionToken: String?
  var publicUrl: String
}

/// Where an object is.
struct S3Object: Sendable, Hashable {
  /// Without a path: `https://s3.eu-central-1.amazonaws.com`.
  var endpoint: String
  var region: String
  var bucket: String
  var key: String
  /// The bucket is the first segment of the path, not the first label of the host.
  var pathStyle: Bool

  /// The host with its port, as the `Host` header has it: the default port of the scheme is left out.
  var host: String {
    let parts = endpoint.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    var authority = parts.count == 3 ? String(parts[2]) : endpoint
    let usual = endpoint.hasPrefix("https:") ? ":443" : ":80"
    if authority.hasSuffix(usual) { authority = String(authority.dropLast(usual.count)) }
    return pathStyle ? authority : "\(bucket).\(authority)"
  }

  /// Encoded.
  var path: String { bucketPath + PercentEncoding.encode(key, keepingSlashes: true) }
  var bucketPath: String { pathStyle ? "/\(PercentEncoding.encode(bucket))/" : "/" }

  func url(path: String, query: String = "") -> String {
    let scheme = endpoint.hasPrefix("https:") ? "https" : "http"
    return "\(scheme)://\(host)\(path)" + (query.isEmpty ? "" : "?" + query)
  }

  var url: String { url(path: path) }
}

extension S3Object {
  /// What is saved of it, to find or take back its upload.
  var fields: JSONObject {
    JSONObject([
      ("endpoint", .string(endpoint)), ("region", .string(region)), ("bucket", .string(bucket)), ("key", .string(key)),
      ("pathStyle", .bool(pathStyle)),
    ])
  }

  init?(_ fields: JSONObject) {
    guard let endpoint = fields["endpoint"]?.string, let region = fields["region"]?.string,
      let bucket = fields["bucket"]?.string, let key = fields["key"]?.string,
      let pathStyle = fields["pathStyle"]?.bool
    else { return nil }
    self.init(endpoint: endpoint, region: region, bucket: bucket, key: key, pathStyle: pathStyle)
  }
}

extension MultipartCredential {
  /// Presigned where it has parts, else signed here.
  static func parse(_ fields: inout JSONFields) throws(JSONShapeError) -> MultipartCredential {
    if let parts = fields.optional("parts") { return .presigned(try presigned(&fields, parts)) }
    let object = S3Object(
      endpoint: try endpoint(fields.required("endpoint")), region: try fields.required("region").nonEmptyString(),
      bucket: try fields.required("bucket").nonEmptyString(), key: try key(fields.required("key")),
      pathStyle: try fields.optional("pathStyle")?.bool() ?? false)
    return .signedHere(
      S3Credential(
        object: object, accessKeyId: try fields.required("accessKeyId").nonEmptyString(),
        secretAccessKey: try fields.required("secretAccessKey").nonEmptyString(),
        sessionToken: try fields.optional("sessionToken")?.nonEmptyString(),
        publicUrl: try fields.optional("publicUrl")?.nonEmptyString() ?? object.url))
  }

  private static func presigned(
    _ fields: inout JSONFields, _ parts: JSONReader
  ) throws(JSONShapeError) -> PresignedMultipart {
    var urls: [Int: String] = [:]
    for reader in try parts.array() {
      var part = try reader.object()
      urls[Int(try part.required("number").int(in: 1...10_000))] = try part.required("url").webURL()
    }
    var pages: [String] = []
    for page in try fields.optional("listUrls")?.array() ?? [] { pages.append(try page.webURL()) }
    if pages.isEmpty, let first = fields.optional("listUrl") { pages = [try first.webURL()] }
    return PresignedMultipart(
      uploadId: try fields.required("uploadId").nonEmptyString(),
      partSize: try fields.required("partSize").int(in: 1...5_368_709_120), parts: urls,
      listUrls: pages, completeUrl: try fields.required("completeUrl").webURL(),
      abortUrl: try fields.optional("abortUrl")?.webURL(),
      publicUrl: try fields.required("publicUrl").nonEmptyString())
  }

  private static func endpoint(_ reader: JSONReader) throws(JSONShapeError) -> String {
    var text = try reader.webURL()
    while text.hasSuffix("/") { text.removeLast() }
    guard text.split(separator: "/", omittingEmptySubsequences: false).count == 3 else {
      throw reader.error("must be a scheme and a host, without a path")
    }
    return text
  }

  /// Clients and servers on the way would take '.' and '..' for steps, and the object would land elsewhere.
  private static func key(_ reader: JSONReader) throws(JSONShapeError) -> String {
    let key = try reader.nonEmptyString()
    guard !key.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) else {
      throw reader.error("must not have a segment \".\" or \"..\"")
    }
    return key
  }
}

extension JSONReader {
  func webURL() throws(JSONShapeError) -> String {
    let text = try nonEmptyString()
    guard text.lowercased().hasPrefix("http://") || text.lowercased().hasPrefix("https://") else {
      throw error("must be an http or https URL")
    }
    return text
  }
}
