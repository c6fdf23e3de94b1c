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

  private func request(for task: SendTask) -> HTTPRequest {
    HTTPRequest(
      posting: .object(DeliveryBody.json(task)), to: target, places: task.places,
      headers: [HTTPHeader("Idempotency-Key", task.id)], settings)
  }
}
