import Answers
import Digest
import HTTP
import TaskModel

/// A call of S3's multipart protocol, whoever signs it.
enum MultipartCall: Sendable {
  /// Whole file in one request.
  case put
  case create
  /// Uploads of this very key that were begun.
  case listUploads
  case part(Int, uploadId: String)
  /// Those after part `marker`.
  case list(uploadId: String, marker: Int?)
  case complete(uploadId: String)
  case abort(uploadId: String)
  case head
}

/// How calls reach the server.
protocol MultipartDoor: Sendable {
  var publicUrl: String { get }

  /// - Parameters:
  ///   - headers: that the call needs; none of them is about the signature.
  ///   - sha256: of the body in hex, where it is known.
  /// - Returns: any answer; nil where there is no way to make this call.
  /// - Throws: `HTTPError`, `CancellationError`.
  func send(
    _ call: MultipartCall, headers: [HTTPHeader], body: HTTPBody, sha256: String?, progress: UploadProgress?
  ) async throws -> HTTPResponse?
}

extension MultipartDoor {
  /// A call without a body.
  func send(_ call: MultipartCall) async throws -> HTTPResponse? {
    try await send(call, headers: [], body: .none, sha256: nil, progress: nil)
  }
}

extension MultipartCall {
  /// Patience of a Complete: S3 may take minutes to join the parts, and sends white space meanwhile
  /// ("CompleteMultipartUpload", Amazon S3 API Reference).
  static let completeTimeoutMs: Int64 = 600_000

  func apply(_ tools: UploadTools, to request: inout HTTPRequest) {
    request.setPatience(tools.settings)
    if case .complete = self {
      request.stallTimeoutMs = max(tools.settings.stallTimeoutMs, 60_000)
      request.totalTimeoutMs = Self.completeTimeoutMs
    }
  }
}

/// URLs that the service has signed. Nothing may be added to them but headers.
struct PresignedDoor: MultipartDoor {
  let credential: PresignedMultipart
  let tools: UploadTools

  var publicUrl: String { credential.publicUrl }

  func send(
    _ call: MultipartCall, headers: [HTTPHeader], body: HTTPBody, sha256: String?, progress: UploadProgress?
  ) async throws -> HTTPResponse? {
    guard let (method, url) = place(call) else { return nil }
    var request = HTTPRequest(method, url: url, headers: headers, body: body)
    call.apply(tools, to: &request)
    return try await tools.http.send(request, progress: progress)
  }

  private func place(_ call: MultipartCall) -> (method: String, url: String)? {
    switch call {
    case .part(let number, _): credential.parts[number].map { ("PUT", $0) }
    case .list(_, let marker): page(after: marker).map { ("GET", $0) }
    case .complete: ("POST", credential.completeUrl)
    case .abort: credential.abortUrl.map { ("DELETE", $0) }
    case .head: credential.publicUrl.hasPrefix("http") ? ("HEAD", credential.publicUrl) : nil
    case .put, .create, .listUploads: nil
    }
  }
}

extension PresignedDoor {
  /// A marker would change the signed query, so the service signs pages with markers of its own: each begins at a whole
  /// thousand. Where the last page ended beyond one, because parts are missing, a few are named twice.
  /// - Returns: nil where no such page was signed: what is on it is sent again.
  fileprivate func page(after marker: Int?) -> String? {
    let index = (marker ?? 0) / PresignedMultipart.partsOnPage
    return index < credential.listUrls.count ? credential.listUrls[index] : nil
  }
}

/// Requests that are signed here.
struct S3Door: MultipartDoor {
  let credential: S3Credential
  let tools: UploadTools

  var publicUrl: String { credential.publicUrl }

  func send(
    _ call: MultipartCall, headers: [HTTPHeader], body: HTTPBody, sha256: String?, progress: UploadProgress?
  ) async throws -> HTTPResponse? {
    let response = try await sendOnce(call, headers, body, sha256, progress)
    guard StorageAnswer.errorCode(response.body) == "RequestTimeTooSkewed" || isSkewed(response),
      tools.clocks.learn(from: response, of: credential.object.host, now: tools.clock.now())
    else { return response }
    return try await sendOnce(call, headers, body, sha256, progress)
  }

  /// A HEAD's answer has no body to name the code in.
  private func isSkewed(_ response: HTTPResponse) -> Bool {
    guard response.status == 403, response.body.isEmpty, let time = ServerClocks.time(response) else { return false }
    let known = tools.clocks.ahead(credential.object.host)
    return abs(time - tools.clock.now() - known) > Self.toleranceMs
  }

  /// What S3 lets pass ("RequestTimeTooSkewed": 15 minutes), with a margin.
  private static let toleranceMs: Int64 = 10 * 60_000

  private func sendOnce(
    _ call: MultipartCall, _ headers: [HTTPHeader], _ body: HTTPBody, _ sha256: String?, _ progress: UploadProgress?
  ) async throws -> HTTPResponse {
    let (method, path, query) = place(call)
    let object = credential.object
    let signer = SigV4(
      accessKeyId: credential.accessKeyId, secretAccessKey: credential.secretAccessKey,
      sessionToken: credential.sessionToken, region: object.region)
    let payload: String
    switch body {
    case .none: payload = Hex.text(try DigestStream.digest(.sha256, of: []))
    case .data(let bytes): payload = Hex.text(try DigestStream.digest(.sha256, of: bytes))
    default: payload = sha256 ?? SigV4.unsignedPayload
    }
    let signed = try signer.headers(
      for: SigV4.Request(
        method: method, host: object.host, path: path, query: query, headers: headers, payload: payload),
      at: tools.clock.now() + tools.clocks.ahead(object.host))
    var request = HTTPRequest(
      method, url: object.url(path: path, query: SigV4.query(query)), headers: signed, body: body)
    call.apply(tools, to: &request)
    return try await tools.http.send(request, progress: progress)
  }

  private func place(_ call: MultipartCall) -> (method: String, path: String, query: [(name: String, value: String)]) {
    let object = credential.object
    return switch call {
    case .put: ("PUT", object.path, [])
    case .create: ("POST", object.path, [("uploads", "")])
    case .listUploads: ("GET", object.bucketPath, [("uploads", ""), ("prefix", object.key)])
    case .part(let number, let id): ("PUT", object.path, [("partNumber", String(number)), ("uploadId", id)])
    case .list(let id, let marker):
      ("GET", object.path, [("uploadId", id)] + (marker.map { [("part-number-marker", String($0))] } ?? []))
    case .complete(let id): ("POST", object.path, [("uploadId", id)])
    case .abort(let id): ("DELETE", object.path, [("uploadId", id)])
    case .head: ("HEAD", object.path, [])
    }
  }
}
