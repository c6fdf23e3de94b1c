import JSON
import JSONRPC
import Synchronization

/// What one session was asked by the engine and has not answered yet.
final class OutgoingRequests: Sendable {
  /// Nil: the session ended, or the answer is not wanted any more.
  typealias Answer = Result<JSONValue, RPCError>?

  private struct State {
    var waiting: [JSONValue: CheckedContinuation<Answer, Never>] = [:]
    var lastID: Int64 = 0
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Ends early, with nil, where the Swift task is canceled; the front end is told by `$/cancelRequest`.
  func ask(_ method: String, _ params: JSONValue, send: @escaping @Sendable (Message) -> Void) async -> Answer {
    let id = state.withLock { state -> JSONValue in
      state.lastID += 1
      // Words, so that nobody takes them for the front end's own numbers.
      return .string("engine-\(state.lastID)")
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          guard !state.isClosed, !Task.isCancelled else { return false }
          state.waiting[id] = continuation
          return true
        }
        guard isOpen else { return continuation.resume(returning: nil) }
        send(.request(id: id, method: method, params: params))
      }
    } onCancel: {
      guard let continuation = state.withLock({ $0.waiting.removeValue(forKey: id) }) else { return }
      send(.notification(method: "$/cancelRequest", params: ["id": id]))
      continuation.resume(returning: nil)
    }
  }

  /// An answer to nothing that was asked is let pass.
  func resolve(_ id: JSONValue, _ result: Result<JSONValue, RPCError>) {
    state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: result)
  }

  func close() {
    let left = state.withLock { state in
      state.isClosed = true
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for continuation in left { continuation.resume(returning: nil) }
  }
}
