import Answers
import Digest
import HTTP

/// AWS Signature Version 4 in the `Authorization` header, for S3 ("Authenticating Requests: Using the Authorization
/// Header", Amazon S3 API Reference). Pure: request and time in, headers out; the tests hold it to the published examples.
///
/// S3's own rules: the path is encoded once and not normalised, query names and values are encoded and sorted, and
/// `x-amz-content-sha256` is always there.
struct SigV4: Sendable {
  let accessKeyId: String
  let secretAccessKey: String
  let sessionToken: String?
  let region: String

  /// What stands for the payload's digest where the body is not known beforehand.
  static let unsignedPayload = "UNSIGNED-PAYLOAD"

  struct Request {
    var method: String
    var host: String
    /// Encoded by `PercentEncoding`.
    var path: String
    /// Not encoded.
    var query: [(name: String, value: String)] = []
    /// All of them are signed, and none may be changed afterwards.
    var headers: [HTTPHeader] = []
    /// SHA-256 of the body in hex, or `unsignedPayload`.
    var payload: String
  }

  /// - Parameter now: milliseconds since 1970.
  /// - Returns: every header to send; `Host` goes without saying.
  /// - Throws: `DigestError`.
  func headers(for request: Request, at now: Int64) throws(DigestError) -> [HTTPHeader] {
    let time = UTCTime(milliseconds: now)
    var headers = request.headers
    headers.append(HTTPHeader("x-amz-content-sha256", request.payload))
    headers.append(HTTPHeader("x-amz-date", time.compact))
    if let sessionToken { headers.append(HTTPHeader("x-amz-security-token", sessionToken)) }
    let signed = (headers + [HTTPHeader("host", request.host)])
      .map { (name: $0.name.lowercased(), value: Self.collapsed($0.value)) }.sorted { $0.name < $1.name }
    let names = signed.map(\.name).joined(separator: ";")
    let canonical = [
      request.method, request.path, Self.query(request.query),
      signed.map { "\($0.name):\($0.value)\n" }.joined(), names, request.payload,
    ].joined(separator: "\n")
    let scope = "\(time.day)/\(region)/s3/aws4_request"
    let digest = Hex.text(try DigestStream.digest(.sha256, of: Array(canonical.utf8)))
    let signature = try sign("AWS4-HMAC-SHA256\n\(time.compact)\n\(scope)\n\(digest)", day: time.day)
    headers.append(
      HTTPHeader(
        "Authorization",
        "AWS4-HMAC-SHA256 Credential=\(accessKeyId)/\(scope), SignedHeaders=\(names), Signature=\(signature)"))
    return headers
  }

  private func sign(_ text: String, day: String) throws(DigestError) -> String {
    var key = Array(("AWS4" + secretAccessKey).utf8)
    for word in [day, region, "s3", "aws4_request"] { key = try HMAC.sha256(key: key, of: Array(word.utf8)) }
    return Hex.text(try HMAC.sha256(key: key, of: Array(text.utf8)))
  }

  /// As it is signed and, because both have to be the same, as it is sent.
  static func query(_ query: [(name: String, value: String)]) -> String {
    query.map { (PercentEncoding.encode($0.name), PercentEncoding.encode($0.value)) }.sorted { $0 < $1 }
      .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
  }

  private static func collapsed(_ value: String) -> String {
    value.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
  }
}
