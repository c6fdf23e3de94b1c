import Synchronization
import TaskModel

/// The one place where slots of one sort are taken and given back. A slot is held for the length of a closure, so no path
/// can leak one: not an error, not a cancel.
final class Slots: SlotLender {
  private struct State {
    var queue: SlotQueue
    var nextTicket: UInt64 = 0
    var continuations: [UInt64: CheckedContinuation<Bool, Never>] = [:]
    var canceled: Set<UInt64> = []
  }

  private let state: Mutex<State>

  /// - Parameter parts: of one slot that light work takes one of.
  init(limit: Int, parts: Int = 1) { state = Mutex(State(queue: SlotQueue(limit: limit, parts: parts))) }

  var usage: (used: Int, limit: Int) { state.withLock { ($0.queue.used, $0.queue.limit) } }

  var waitingCount: Int { state.withLock { $0.queue.waitingCount } }

  func setLimit(_ limit: Int, parts: Int = 1) {
    state.withLock { $0.queue.setLimit(limit, parts: parts) }
    admit()
  }

  /// Waits for a slot, runs `body` with it, gives it back.
  /// - Parameter isLight: whether a part of a slot will do.
  /// - Throws: `CancellationError` if the Swift task is canceled while waiting; what `body` throws.
  func withSlot<T: Sendable>(
    for task: SendTask, isLight: Bool = false, _ body: () async throws -> T
  ) async throws -> T {
    try await take { ticket in
      SlotQueue.Waiting(
        ticket: ticket, lane: task.laneID, urgency: task.urgency, isModest: task.kind == .log, isLight: isLight)
    }
    defer { giveBack(isLight: isLight) }
    try Task.checkCancellation()
    return try await body()
  }

  private func take(_ waiting: (UInt64) -> SlotQueue.Waiting) async throws {
    let ticket = state.withLock { state in
      state.nextTicket += 1
      return state.nextTicket
    }
    let hasSlot = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isLate = state.withLock { state in
          // A cancel can come before there is anything to wake.
          if state.canceled.remove(ticket) != nil { return true }
          state.continuations[ticket] = continuation
          state.queue.enqueue(waiting(ticket))
          return false
        }
        if isLate { continuation.resume(returning: false) } else { admit() }
      }
    } onCancel: {
      let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
        guard let continuation = state.continuations[ticket] else {
          state.canceled.insert(ticket)
          return nil
        }
        guard state.queue.withdraw(ticket) else { return nil }
        state.continuations[ticket] = nil
        return continuation
      }
      guard let continuation else { return }
      continuation.resume(returning: false)
      // It may have been the one that all others stood behind.
      admit()
    }
    // The mark of a cancel that came after the slot was given.
    _ = state.withLock { $0.canceled.remove(ticket) }
    guard hasSlot else { throw CancellationError() }
  }

  /// For a moment, where nobody waits.
  func tryTake() -> Bool { state.withLock { $0.queue.tryTake() } }

  func giveBack() { giveBack(isLight: false) }

  private func giveBack(isLight: Bool) {
    state.withLock { $0.queue.giveBack(isLight: isLight) }
    admit()
  }

  private func admit() {
    while true {
      let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
        guard let next = state.queue.next() else { return nil }
        return state.continuations.removeValue(forKey: next.ticket)
      }
      guard let continuation else { return }
      continuation.resume(returning: true)
    }
  }
}
