import Answers
import HTTP
import JSON
import TaskModel

/// What every request of tus has, and what an answer means.
enum TusCall {
  /// The credential's headers go to the server that they are for; an upload that lies on another host has its right in its
  /// URL.
  static func request(_ method: String, _ url: String, _ credential: TusCredential?) -> HTTPRequest {
    var request = HTTPRequest(method, url: url, headers: [HTTPHeader("Tus-Resumable", TusEndpoint.version)])
    if let credential, request.origin == HTTPRequest(method, url: credential.endpoint).origin {
      let own: Set = [
        "tus-resumable", "upload-offset", "upload-length", "upload-metadata", "upload-checksum", "content-type",
      ]
      request.headers += credential.headers.filter { !own.contains($0.name.lowercased()) }
    }
    return request
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
    case 412: return failure(.rejected, "does not speak tus \(TusEndpoint.version)", .giveUp)
    case 423:
      var locked = failure(.unavailable, "still waits for an earlier request of this upload", .retry)
      locked.retryAfterMs = response.retryAfterMs ?? TusEndpoint.lockWaitMs
      return locked
    case 460: return failure(.integrityMismatch, "got other bytes than were exported", .restart)
    default: return StatusMap.failure(response, host: host, from: .storage)
    }
  }
}

/// Takes a tus upload back (extension "termination"), from what was saved of it.
struct TusAbandon: Sendable {
  let fields: JSONObject
  let tools: UploadTools
  let credential: @Sendable () async throws -> UploadCredential?

  /// - Throws: `Failure` where it has to be tried again, or can't be done.
  func run() async throws {
    guard let url = fields["uploadUrl"]?.string else { return }
    do {
      try await delete(url, nil)
    } catch let failure as Failure where failure.code == .forbidden {
      guard case .tus(let fresh)? = try await credential() else { throw failure }
      try await delete(url, fresh)
    }
  }

  private func delete(_ url: String, _ credential: TusCredential?) async throws {
    var request = TusCall.request("DELETE", url, credential)
    request.stallTimeoutMs = tools.settings.stallTimeoutMs
    request.connectTimeoutMs = tools.settings.connectTimeoutMs
    let response: HTTPResponse
    do {
      response = try await tools.http.send(request)
    } catch let error as HTTPError {
      throw StatusMap.failure(error)
    }
    // Gone already, or a server without this extension, which forgets by itself.
    if [404, 405, 410, 501].contains(response.status) { return }
    guard var failure = TusCall.failure(response, host: request.host, isCreation: false) else { return }
    // Nobody renews a credential here but `run`, once.
    if failure.remedy == .refreshCredential { failure.remedy = .giveUp }
    throw failure
  }
}
