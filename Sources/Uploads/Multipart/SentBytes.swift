import Synchronization

/// How many bytes of a file have gone out, where several parts of it go out at once. Bytes of a part that is sent again are
/// not counted twice, and the sum never falls.
final class SentBytes: Sendable {
  private struct State {
    var parts: [Int: Int64] = [:]
    var sum: Int64
  }

  private let report: UploadProgress
  private let state: Mutex<State>

  /// - Parameter held: what the server had before these parts.
  init(held: Int64, _ report: @escaping UploadProgress) {
    self.report = report
    state = Mutex(State(sum: held))
  }

  func note(_ bytes: Int64, of part: Int) {
    let sum = state.withLock { state -> Int64? in
      let more = bytes - (state.parts[part] ?? 0)
      guard more > 0 else { return nil }
      state.parts[part] = bytes
      state.sum += more
      return state.sum
    }
    if let sum { report(sum) }
  }
}
