import Answers
import HTTP
import TaskModel

/// How calls reach a tus server, and what its answers mean.
struct TusDoor: Sendable {
  static let version = "1.0.0"
  /// How long to wait for a lock where the server does not say; SeaweedFS holds one for 10 s after a silent connection.
  static let lockWaitMs: Int64 = 2_000

  /// nil: an upload's URL is all the right there is.
  let credential: TusCredential?
  let tools: UploadTools

  /// - Returns: any answer.
  /// - Throws: `Failure` where there is none, or `CancellationError`.
  func call(
    _ method: String, _ url: String, headers: [HTTPHeader] = [], body: HTTPBody = .none,
    progress: UploadProgress? = nil
  ) async throws -> HTTPResponse {
    var request = request(method, url)
    request.headers += headers
    request.body = body
    request.isRepeatable = method != "PATCH"
    do {
      return try await tools.http.send(request, progress: progress)
    } catch let error as HTTPError {
      var failure = StatusMap.failure(error)
      // A PATCH, as the others have been sent again: what came of it the server knows, and can be asked at once.
      if error.keptConnectionDied { failure.remedy = .resume }
      throw failure
    }
  }

  /// What every request has. The credential's headers go to the server that they are for; an upload that lies on another
  /// host has its right in its URL.
  func request(_ method: String, _ url: String) -> HTTPRequest {
    var request = HTTPRequest(method, url: url, headers: [HTTPHeader("Tus-Resumable", Self.version)])
    request.setPatience(tools.settings)
    if let credential, request.origin == HTTPRequest(method, url: credential.endpoint).origin {
      request.headers += credential.headers.filter { !Self.ownHeaders.contains($0.name.lowercased()) }
    }
    return request
  }

  private static let ownHeaders: Set = [
    "tus-resumable", "upload-offset", "upload-length", "upload-metadata", "upload-checksum", "content-type",
  ]

  /// nil for success.
  func failure(_ response: HTTPResponse, _ url: String) -> Failure? {
    Self.failure(
      response, host: HTTPRequest("GET", url: url).host, isCreation: url == credential?.endpoint)
  }

  /// nil for success.
  static func failure(_ response: HTTPResponse, host: String, isCreation: Bool) -> Failure? {
    func failure(_ code: FailureCode, _ message: String, _ remedy: Remedy) -> Failure {
      Failure(code, "\(host) \(message) (\(response.status))", remedy: remedy, httpStatus: response.status)
    }
    switch response.status {
    case 404 where !isCreation, 410 where !isCreation:
      return failure(.uploadLost, "does not know the upload any more", .restart)
    case 409 where !isCreation: return failure(.badAnswer, "has another offset", .resume)
    case 412: return failure(.rejected, "does not speak tus \(version)", .giveUp)
    case 423:
      var locked = failure(.unavailable, "still waits for an earlier request of this upload", .retry)
      locked.retryAfterMs = response.retryAfterMs ?? lockWaitMs
      return locked
    case 460: return failure(.integrityMismatch, "got other bytes than were exported", .restart)
    default: return StatusMap.failure(response, host: host, from: .storage)
    }
  }
}
