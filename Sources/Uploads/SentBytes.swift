import Synchronization

/// How many bytes of a file have gone out, where several parts of it go out at once. Bytes of a part that is sent again are
/// not counted twice, and the sum never falls.
final class SentBytes: Sendable {
  private struct State {
    var parts: [Int: Int64] = [:]
    var told: Int64 = 0
  }

  private let held: Int64
  private let report: UploadProgress
  private let state = Mutex(State())

  /// - Parameter held: what the server had before these parts.
  init(held: Int64, _ report: @escaping UploadProgress) {
    self.held = held
    self.report = report
  }

  func note(_ bytes: Int64, of part: Int) {
    let sum = state.withLock { state -> Int64? in
      state.parts[part] = max(bytes, state.parts[part] ?? 0)
      let sum = held + state.parts.values.reduce(0, +)
      guard sum > state.told else { return nil }
      state.told = sum
      return sum
    }
    if let sum { report(sum) }
  }
}
