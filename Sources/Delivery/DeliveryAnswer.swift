import Answers
import HTTP
import JSON
import TaskModel

/// What the service's answer to a delivery means. Pure.
///
/// | answer | meaning |
/// |---|---|
/// | 2xx | sent; the body's `id` is the remote id |
/// | 2xx with a page for people | somebody else has answered: the same key again later |
/// | 409 with an `id` | delivered before: sent |
/// | 409 with `Retry-After` | the first request with this key is still being worked on: ask again |
/// | 408, 423, 425, 429, 5xx but 501 and 507, no answer | the same key again later |
/// | other 4xx | permanent: the problem document's code, else `forbidden` for 401 and 403, else `refused` |
enum DeliveryAnswer {
  /// - Returns: the remote id, where the service names one.
  /// - Throws: `Failure`.
  static func remoteId(_ response: HTTPResponse, host: String) throws(Failure) -> String? {
    let id = remoteId(in: response.body)
    if response.isSuccess, var failure = WebPage.failure(response, host: host) {
      failure.outcomeUnknown = true
      throw failure
    }
    if response.isSuccess || response.status == 409 && id != nil { return id }
    throw failure(response, host: host)
  }

  private static func failure(_ response: HTTPResponse, host: String) -> Failure {
    let status = response.status
    if status == 409, response.retryAfterMs != nil {
      return Failure(
        .unavailable, "\(host) is still at work on this delivery (409)", remedy: .retry, httpStatus: status,
        retryAfterMs: response.retryAfterMs, outcomeUnknown: true)
    }
    guard var failure = StatusMap.failure(response, host: host, from: .service) else {
      return Failure(.badAnswer, "\(host) gave no answer that is known", remedy: .retry, outcomeUnknown: true)
    }
    if failure.isPermanent {
      if let problem = ProblemDocument(response) {
        failure.code = problem.code
        failure.message = problem.message ?? "\(host) refused the delivery: \(problem.code.rawValue)"
      } else if failure.code == .rejected {
        failure.code = .refused
        failure.message = "\(host) refused the delivery (\(status))"
      }
    } else {
      // A server or a gateway that gave up may have published all the same; one that asks for fewer requests has not.
      failure.outcomeUnknown = status == 408 || status >= 500
    }
    return failure
  }

  static func failure(_ error: HTTPError) -> Failure {
    var failure = StatusMap.failure(error)
    failure.outcomeUnknown = error.requestMayHaveArrived
    // The answer was there and could not be used: the same key again tells more.
    if error.code == .responseTooLarge { failure.remedy = .retry }
    return failure
  }

  private static func remoteId(in body: [UInt8]) -> String? {
    switch (try? JSONParser.parse(body))?["id"] {
    case .string(let text): text.isEmpty ? nil : text
    case .number(let number): number.literal
    default: nil
    }
  }
}
