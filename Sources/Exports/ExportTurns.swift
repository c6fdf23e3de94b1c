/// Lets one at a time in, for each key.
actor ExportTurns {
  private var waiting: [String: [(ticket: Int, continuation: CheckedContinuation<Void, any Error>)]] = [:]
  private var busy: Set<String> = []
  private var lastTicket = 0

  /// - Throws: `CancellationError` if the Swift task is canceled while waiting; what `body` throws.
  nonisolated func withTurn<T: Sendable>(_ key: String, _ body: () async throws -> T) async throws -> T {
    try await take(key)
    do {
      let result = try await body()
      await giveBack(key)
      return result
    } catch {
      await giveBack(key)
      throw error
    }
  }

  private func take(_ key: String) async throws {
    try Task.checkCancellation()
    if busy.insert(key).inserted { return }
    lastTicket += 1
    let ticket = lastTicket
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiting[key, default: []].append((ticket, $0)) }
    } onCancel: {
      // Runs on the actor after the wait has begun, which happens without a suspension.
      Task { await leave(key, ticket) }
    }
  }

  private func giveBack(_ key: String) {
    guard var queue = waiting[key], !queue.isEmpty else {
      waiting[key] = nil
      busy.remove(key)
      return
    }
    let next = queue.removeFirst()
    waiting[key] = queue
    next.continuation.resume()
  }

  private func leave(_ key: String, _ ticket: Int) {
    guard let place = waiting[key]?.firstIndex(where: { $0.ticket == ticket }) else { return }
    waiting[key]?.remove(at: place).continuation.resume(throwing: CancellationError())
  }
}
