import TaskModel

// Writes that wait for a commit.

/// One waiting write: run once, answered once.
protocol WaitingWrite: AnyObject {
  func run(in commit: Commit) throws
  func succeed()
  func fail(_ error: any Error)
}

class Waiting<T: Sendable> {
  private let answer: (Result<T, any Error>) -> Void
  fileprivate var outcome: Result<T, any Error>?

  init(answer: @escaping (Result<T, any Error>) -> Void) { self.answer = answer }

  func succeed() { if let outcome { answer(outcome) } }
  func fail(_ error: any Error) { answer(.failure(error)) }
}

final class Write<T: Sendable>: Waiting<T>, WaitingWrite {
  private let body: @Sendable (StoreTransaction) throws -> T

  init(
    body: @escaping @Sendable (StoreTransaction) throws -> T, answer: @escaping (Result<T, any Error>) -> Void
  ) {
    self.body = body
    super.init(answer: answer)
  }

  func run(in commit: Commit) throws { outcome = try commit.write(body) }
}

final class Update<T: Sendable>: Waiting<T>, WaitingWrite {
  private let id: SendTask.ID
  private let decide: @Sendable (SendTask?) throws -> (update: TaskUpdate?, answer: T)

  init(
    id: SendTask.ID, decide: @escaping @Sendable (SendTask?) throws -> (update: TaskUpdate?, answer: T),
    answer: @escaping (Result<T, any Error>) -> Void
  ) {
    self.id = id
    self.decide = decide
    super.init(answer: answer)
  }

  func run(in commit: Commit) { outcome = commit.update(id, decide) }
}

/// A write that has its place in the order; not yet durable.
public struct PendingWrite<T: Sendable>: Sendable {
  let stream: AsyncThrowingStream<T, any Error>

  /// Returns when it is durable. A cancel does not break this off: what is on its way to the disk can't be called back, and
  /// the caller has to know what became of it.
  /// - Throws: what the closure threw, or the store's error; then it has had no effect.
  public func value() async throws -> T {
    let outcome = Task { [stream] in
      for try await value in stream { return value }
      throw CancellationError()  // not reached: the stream ends with a value or an error
    }
    return try await outcome.value
  }
}
