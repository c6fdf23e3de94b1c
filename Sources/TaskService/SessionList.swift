import Synchronization

/// The sessions that are open, and who wants to know when none is.
public final class SessionList: Sendable {
  private struct State {
    var open: [ObjectIdentifier: Session] = [:]
    var whenEmpty: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  public var count: Int { state.withLock { $0.open.count } }

  func add(_ session: Session) { state.withLock { $0.open[ObjectIdentifier(session)] = session } }

  func remove(_ session: Session) {
    let callback = state.withLock { state -> (@Sendable () -> Void)? in
      state.open[ObjectIdentifier(session)] = nil
      return state.open.isEmpty ? state.whenEmpty : nil
    }
    callback?()
  }

  /// Calls back whenever the last session has ended, and now if there is none.
  public func whenEmpty(_ callback: @escaping @Sendable () -> Void) {
    let isEmpty = state.withLock { state in
      state.whenEmpty = callback
      return state.open.isEmpty
    }
    if isEmpty { callback() }
  }
}
