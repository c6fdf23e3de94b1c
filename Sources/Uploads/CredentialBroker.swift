import TaskModel

/// One per upload session, that is per task and attempt: however many uploads want a credential, or a fresh one, the
/// service is asked once and all of them wait for that one answer.
///
/// A wait that is canceled ends at once; the request goes on for the others and is canceled with the last.
actor CredentialBroker {
  typealias Ask = @Sendable (CredentialRequest, SendTask) async throws -> CredentialAnswer

  /// Credentials with the number of the request that brought them.
  struct Issue: Sendable {
    let generation: Int
    let asked: Set<Int>
    let answer: CredentialAnswer
  }

  /// Where less is left, the credential would expire on the way.
  static let expiryMarginMs: Int64 = 10_000

  private let ask: Ask
  private let now: @Sendable () -> Int64
  private var current: Issue?
  private var request: (generation: Int, task: Task<Void, Never>)?
  private var waiters: [Int: CheckedContinuation<Issue, any Error>] = [:]
  private var lastWaiter = 0
  private var lastGeneration = 0
  /// A refusal has been answered with a renewal, and nothing went up since.
  private var hasRenewedInVain = false

  init(now: @escaping @Sendable () -> Int64, ask: @escaping Ask) {
    self.now = now
    self.ask = ask
  }

  /// Credentials that name `index`.
  /// - Parameter refused: the generation that storage has just refused, if it has.
  /// - Throws: `Failure`: `forbidden` for a second refusal before any progress; or `CancellationError`.
  func issue(for index: Int, of task: SendTask, refused: Int? = nil) async throws -> Issue {
    try Task.checkCancellation()
    if let current, let isRenewal = try needsRequest(current, index, refused) {
      return try await wait(for: task, isRenewal: isRenewal)
    }
    if let current { return current }
    return try await wait(for: task, isRenewal: false)
  }

  /// Something went up: the next refusal is a new one.
  func noteProgress() { hasRenewedInVain = false }

  /// - Returns: nil where `current` will do, else whether to ask for a renewal.
  private func needsRequest(_ current: Issue, _ index: Int, _ refused: Int?) throws(Failure) -> Bool? {
    if request != nil { return true }
    if refused == current.generation {
      guard !hasRenewedInVain else {
        throw Failure(.forbidden, "storage does not accept a fresh credential either", remedy: .needsUser)
      }
      hasRenewedInVain = true
      return true
    }
    // It was exported after the others asked.
    if !current.asked.contains(index) { return false }
    if refused == nil, let expiresAt = current.answer.expiresAt, expiresAt - now() < Self.expiryMarginMs { return true }
    return nil
  }

  private func wait(for task: SendTask, isRenewal: Bool) async throws -> Issue {
    lastWaiter += 1
    let waiter = lastWaiter
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        waiters[waiter] = continuation
        if request == nil { start(for: task, isRenewal: isRenewal) }
      }
    } onCancel: {
      // Runs on the actor after the wait has begun, which happens without a suspension.
      Task { await leave(waiter) }
    }
  }

  private func start(for task: SendTask, isRenewal: Bool) {
    lastGeneration += 1
    let generation = lastGeneration
    let body = CredentialRequest(task, isRenewal: isRenewal)
    let work = Task {
      do {
        let answer = try await ask(body, task)
        end(generation, .success(Issue(generation: generation, asked: body.indexes, answer: answer)))
      } catch {
        end(generation, .failure(error))
      }
    }
    request = (generation, work)
  }

  private func end(_ generation: Int, _ result: Result<Issue, any Error>) {
    guard request?.generation == generation else { return }
    request = nil
    switch result {
    case .success(let issue): current = issue
    // Nothing fresh came, so nothing fresh was refused: the next refusal may ask again.
    case .failure: hasRenewedInVain = false
    }
    let all = waiters
    waiters = [:]
    for continuation in all.values { continuation.resume(with: result) }
  }

  private func leave(_ waiter: Int) {
    guard let continuation = waiters.removeValue(forKey: waiter) else { return }
    continuation.resume(throwing: CancellationError())
    guard waiters.isEmpty, let request else { return }
    request.task.cancel()
    self.request = nil
    hasRenewedInVain = false
  }
}
