import Answers
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
      throw Failure(writing: "the journal can't be written", error)
    } catch let error as Journal.Unsure {
      throw Failure(writing: "the journal can't be written", error.cause, outcomeUnknown: true)
    }
  }
}
