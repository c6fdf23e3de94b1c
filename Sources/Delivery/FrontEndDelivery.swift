import JSON
import TaskModel

/// Publishes by asking a front end: `delivery/perform`, with the same body as over HTTP. The task's id is the key; `resend`
/// says that it may be there already.
struct FrontEndDelivery: Sendable {
  let frontEnds: any FrontEnds

  /// - Throws: `Failure`, or `CancellationError`: then it may have been published.
  func deliver(_ task: SendTask, mode: DeliveryMode) async throws -> String? {
    var body = DeliveryBody.json(task)
    body["mode"] = .string(mode.rawValue)
    let answer = try await frontEnds.ask(
      "delivery/perform", .object(body), of: .deliver(task.kind), account: task.account)
    guard let id = answer["remoteId"] else { return nil }
    guard let text = id.string, !text.isEmpty else {
      // It was published: an odd id is no reason to do it again.
      if case .number(let number) = id { return number.literal }
      return nil
    }
    return text
  }
}
