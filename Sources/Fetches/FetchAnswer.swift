import Answers
import HTTP
import TaskModel

/// What an answer, or its lack, means for a fetch; pure. What passes is as for every host; what stays is said in the words of
/// sources.
enum FetchAnswer {
  /// nil for success.
  static func failure(_ response: HTTPResponse, host: String) -> Failure? {
    guard var failure = StatusMap.failure(response, host: host, from: .service) else { return nil }
    switch response.status {
    case 404, 410:
      failure.code = .sourceMissing
      failure.message = "\(host) has no such file (\(response.status))"
      failure.remedy = .needsUser
    case 401, 403:
      failure.code = .sourceUnreadable
      failure.message = "\(host) does not give the file without a permission (\(response.status))"
      failure.remedy = .needsUser
    case _ where failure.isPermanent:
      failure.code = .sourceUnreadable
      failure.message = "\(host) does not give the file (\(response.status))"
    default: break
    }
    return failure
  }

  static func failure(_ error: HTTPError) -> Failure {
    var failure = StatusMap.failure(error)
    if failure.isPermanent, failure.code == .rejected { failure.code = .sourceUnreadable }
    return failure
  }
}
