import Answers
import HTTP
import JSON
import TaskConfig
import TaskModel

/// Publishes by a POST to the business service. The task's id is the idempotency key, the same in every attempt.
struct HTTPDelivery: Sendable {
  let target: HTTPTarget
  let http: HTTPClient
  let settings: Config.Uploads

  /// - Returns: the remote id, where the service names one.
  /// - Throws: `Failure`, or `CancellationError`: then the request may have arrived.
  func deliver(_ task: SendTask) async throws -> String? {
    let request = request(for: task)
    let response: HTTPResponse
    do {
      response = try await http.send(request)
    } catch let error as HTTPError {
      throw DeliveryAnswer.failure(error)
    }
    return try DeliveryAnswer.remoteId(response, host: request.host)
  }

  func request(for task: SendTask) -> HTTPRequest {
    let url = URLTemplate.fill(
      target.url, ["kind": task.kind.rawValue, "account": task.account, "taskId": task.id])
    let own = [HTTPHeader("Idempotency-Key", task.id), HTTPHeader("Content-Type", "application/json")]
    let ownNames = Set(own.map { $0.name.lowercased() })
    let given = target.headers.filter { !ownNames.contains($0.name.lowercased()) }
    var request = HTTPRequest(
      "POST", url: url, headers: given.map { HTTPHeader($0.name, $0.value) } + own,
      body: .data(JSONWriter.bytes(.object(DeliveryBody.json(task)))))
    request.stallTimeoutMs = settings.stallTimeoutMs
    request.connectTimeoutMs = settings.connectTimeoutMs
    return request
  }
}
