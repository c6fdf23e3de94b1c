import Dispatch
import JSON
import Platform
import TaskModel

/// Publishes by a line in a local journal: the delivery body plus `at`, when it was written.
struct JournalDelivery: Sendable {
  let path: String
  let now: @Sendable () -> Int64

  /// One at a time in this process; an flock alone would have threads wait for each other.
  private static let queue = DispatchQueue(label: "taskcenter.journal")

  /// - Throws: `Failure`; or `CancellationError`, then no line was added.
  func deliver(_ task: SendTask, mode: DeliveryMode) async throws {
    let journal = Journal(path: path)
    do {
      _ = try await Blocking.run(on: Self.queue) { [now] flag in
        var body = DeliveryBody.json(task)
        body["at"] = .int(now())
        return try journal.append(
          JSONWriter.bytes(.object(body)), taskId: task.id, unlessThere: mode == .resend, flag)
      }
    } catch let error as SystemError {
      throw Self.failure(error, outcomeUnknown: false)
    } catch let error as Journal.Unsure {
      throw Self.failure(error.cause, outcomeUnknown: true)
    }
  }

  private static func failure(_ error: SystemError, outcomeUnknown: Bool) -> Failure {
    let (code, remedy): (FailureCode, Remedy) =
      error.isDiskFull
      ? (.diskFull, .needsUser) : error.isForbidden ? (.forbidden, .needsUser) : (.unavailable, .retry)
    return Failure(
      code, "the journal can't be written: \(error.reason)", remedy: remedy, outcomeUnknown: outcomeUnknown)
  }
}
