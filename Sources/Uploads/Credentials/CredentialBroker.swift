import TaskModel

/// One per upload session, that is per task and attempt: however many uploads want a credential, or a fresh one, the
/// service is asked once and all of them wait for that one answer.
///
/// A request names every resource that is exported by then and has no credential yet. It waits a moment for exports that
/// are about to end, so that a post of small pictures needs one request; a long video beside them keeps nobody waiting,
/// and gets a request of its own. A wait that is canceled ends at once; the request goes on for the others and is
/// canceled with the last.
actor CredentialBroker {
  typealias Ask = @Sendable (CredentialRequest) async throws -> CredentialAnswer

  /// A resource's credential.
  struct Issue: Sendable {
    /// Number of the request that brought it.
    let generation: Int
    /// Nil where the service was asked and gave none.
    let credential: UploadCredential?
    let expiresAt: Int64?
    /// When it came, milliseconds since 1970.
    let issuedAt: Int64
  }

  private struct Waiter {
    let index: Int
    /// The generation that will not do, because storage has refused it or it expires; 0 for any.
    let stale: Int
    let continuation: CheckedContinuation<Issue, any Error>
  }

  private struct Request {
    let generation: Int
    let isRenewal: Bool
    /// Nil while it waits for exports.
    var indexes: Set<Int>?
    var work: Task<Void, Never>?
  }

  /// Where less is left, the credential would expire on the way.
  static let expiryMarginMs: Int64 = 10_000
  /// A request goes out when no further export has ended for so long: the time of one photo on a slow machine.
  static let quietMs: Int64 = 400
  /// However fast exports follow each other, what is ready waits no longer than this.
  static let gatherMs: Int64 = 1_200

  private let ask: Ask
  private let clock: any Clock
  private var latest: SendTask?
  private var issued: [Int: Issue] = [:]
  /// What uploads of this session have saved meanwhile; the task may not know it yet.
  private var underWay: [Int: UploadState?] = [:]
  private var waiters: [Int: Waiter] = [:]
  private var request: Request?
  private var gathering: AsyncStream<Void>.Continuation?
  private var lastWaiter = 0
  private var lastGeneration = 0
  /// A refusal has been answered with a renewal, and nothing went up since.
  private var hasRenewedInVain = false

  init(clock: any Clock, ask: @escaping Ask) {
    self.clock = clock
    self.ask = ask
  }

  /// The task as it is now; once nothing of it is left to export, a request waits no longer.
  func note(_ task: SendTask) {
    latest = task
    if task.isExported { gathering?.finish() }
  }

  /// The credential of resource `index`.
  /// - Parameter refused: the generation that storage has just refused, if it has.
  /// - Throws: `Failure`: `forbidden` for a second refusal before any progress; or `CancellationError`.
  func issue(for index: Int, of task: SendTask, refused: Int? = nil) async throws -> Issue {
    try Task.checkCancellation()
    if latest == nil { latest = task }
    guard let issue = issued[index] else { return try await wait(index, stale: 0) }
    if refused == issue.generation {
      guard !hasRenewedInVain || request != nil else {
        throw Failure(.forbidden, "storage does not accept a fresh credential either", remedy: .needsUser)
      }
      hasRenewedInVain = true
      return try await wait(index, stale: issue.generation)
    }
    if refused == nil, isExpiring(issue) {
      return try await wait(index, stale: issue.generation)
    }
    return issue
  }

  /// What the upload of resource `index` has saved, or that it has given up what it had.
  func note(underWay state: UploadState?, for index: Int) { underWay[index] = .some(state) }

  /// Whether what is left of its life will not do. One that lives for seconds only is used for most of them: it would
  /// otherwise be renewed before every piece.
  func isExpiring(_ issue: Issue) -> Bool {
    guard let expiresAt = issue.expiresAt else { return false }
    let margin = min(Self.expiryMarginMs, max(1, (expiresAt - issue.issuedAt) / 4))
    return expiresAt - clock.now() < margin
  }

  /// Something went up: the next refusal is a new one.
  func noteProgress() { hasRenewedInVain = false }

  private func wait(_ index: Int, stale: Int) async throws -> Issue {
    lastWaiter += 1
    let waiter = lastWaiter
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        waiters[waiter] = Waiter(index: index, stale: stale, continuation: continuation)
        startIfNeeded()
      }
    } onCancel: {
      // Runs on the actor after the wait has begun, which happens without a suspension.
      Task { await leave(waiter) }
    }
  }

  // MARK: Requests

  private func startIfNeeded() {
    guard request == nil, !waiters.isEmpty else { return }
    lastGeneration += 1
    let generation = lastGeneration
    let isRenewal = waiters.values.contains { $0.stale > 0 }
    request = Request(generation: generation, isRenewal: isRenewal)
    request?.work = Task { await run(generation, isRenewal: isRenewal) }
  }

  private func run(_ generation: Int, isRenewal: Bool) async {
    if !isRenewal { await gather() }
    guard request?.generation == generation, let task = latest else { return }
    let known = isRenewal ? [] : Set(issued.keys)
    let body = CredentialRequest(task, isRenewal: isRenewal, except: known, underWay: underWay)
    request?.indexes = body.indexes
    for (number, waiter) in waiters where issued[waiter.index] == nil && !body.indexes.contains(waiter.index) {
      waiters[number] = nil
      waiter.continuation.resume(
        throwing: Failure(.internalError, "resource \(waiter.index) is not exported yet", remedy: .restart))
    }
    do {
      end(generation, .success(try await ask(body)))
    } catch {
      end(generation, .failure(error))
    }
  }

  private func gather() async {
    guard let latest, !latest.isExported else { return }
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    gathering = continuation
    let alarm = Task {
      await waitForQuiet()
      continuation.finish()
    }
    for await _ in stream {}
    alarm.cancel()
    gathering = nil
  }

  private func waitForQuiet() async {
    for _ in 0..<(Self.gatherMs / Self.quietMs) {
      let ready = latest?.exportedCount
      guard (try? await clock.sleep(milliseconds: Self.quietMs)) != nil, latest?.exportedCount != ready else { return }
    }
  }

  private func end(_ generation: Int, _ result: Result<CredentialAnswer, any Error>) {
    guard let ended = request, ended.generation == generation, let named = ended.indexes else { return }
    request = nil
    switch result {
    case .success(let answer):
      for index in named {
        issued[index] = Issue(
          generation: generation, credential: answer.uploads[index], expiresAt: answer.expiresAt,
          issuedAt: clock.now())
      }
    // Nothing fresh came, so nothing fresh was refused: the next refusal may ask again.
    case .failure: hasRenewedInVain = false
    }
    for (number, waiter) in waiters {
      if let issue = issued[waiter.index], issue.generation > waiter.stale {
        waiters[number] = nil
        waiter.continuation.resume(returning: issue)
      } else if case .failure(let error) = result {
        waiters[number] = nil
        waiter.continuation.resume(throwing: error)
      }
    }
    // Who came too late to be named is in the next request.
    startIfNeeded()
  }

  private func leave(_ number: Int) {
    guard let waiter = waiters.removeValue(forKey: number) else { return }
    waiter.continuation.resume(throwing: CancellationError())
    guard waiters.isEmpty, let request else { return }
    request.work?.cancel()
    self.request = nil
    hasRenewedInVain = false
  }
}

extension SendTask {
  fileprivate var exportedCount: Int { resources.count { $0.export != nil } }
}
