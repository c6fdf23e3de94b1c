import Answers
import HTTP
import JSON
import TaskConfig
import TaskModel

/// Asks the business service for credentials, by HTTP.
struct HTTPIssuer: Sendable {
  let target: HTTPTarget
  let http: HTTPClient
  let settings: Config.Uploads
  let clock: any Clock

  /// - Throws: `Failure`, or `CancellationError`.
  func ask(_ body: CredentialRequest) async throws -> CredentialAnswer {
    var request = HTTPRequest(posting: body.json, to: target, places: body.places, settings)
    request.maxResponseBytes = Self.maximumAnswer
    let response = try await http.ask(request)
    if var failure = StatusMap.failure(response, host: request.host, from: .service) {
      // The service knows better than a status why it refuses (blocked, not a member).
      if failure.isPermanent, let problem = ProblemDocument(response) {
        failure.code = problem.code
        failure.message = problem.message ?? failure.message
      }
      throw failure
    }
    var answer = try Self.parse(response, host: request.host)
    // By the service's clock; what counts here is how much is left. Ours may be wrong by any amount.
    if let expiresAt = answer.expiresAt, let time = ServerClocks.time(response) {
      answer.expiresAt = expiresAt - time + clock.now()
    }
    return answer
  }

  /// Bytes: 10,000 parts, and a signed URL with a session token takes up to 1.5 kB.
  private static let maximumAnswer = 16 << 20

  private static func parse(_ response: HTTPResponse, host: String) throws(Failure) -> CredentialAnswer {
    let value: JSONValue
    do {
      value = try JSONParser.parse(response.body)
    } catch {
      // Not the service, perhaps: a proxy or the page of a hotel's network.
      throw Failure(
        .badAnswer, "\(host) did not answer with JSON: \(error)", remedy: .retry, httpStatus: response.status)
    }
    do {
      return try CredentialAnswer.parse(value)
    } catch {
      throw Failure(
        .badAnswer, "\(host) sent credentials of the wrong shape: \(error)", remedy: .giveUp,
        httpStatus: response.status)
    }
  }
}
