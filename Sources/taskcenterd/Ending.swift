import Dispatch
import Glibc
import Platform
import Synchronization
import TaskEngine
import TaskService

/// How the engine ends: once, in order, and within 5 s.
///
/// The main session's end (end of stdin, `shutdown`, a broken stdout) or SIGTERM and SIGINT begin it. With `--linger` the
/// end of the main session only means that nobody needs to be waited for: the engine ends when nothing is left to run and
/// no other session is open.
final class Ending: Sendable {
  private struct State {
    var engine: Engine?
    var service: Service?
    var lock: EngineLock?
    var hasBegun = false
    var isMainOver = false
  }

  private let state = Mutex(State())
  private let linger: Bool
  private let log: Log
  private let deadlineSeconds = 2

  init(linger: Bool, log: Log) {
    self.linger = linger
    self.log = log
  }

  var engine: Engine? {
    get { state.withLock { $0.engine } }
    set { state.withLock { $0.engine = newValue } }
  }
  var service: Service? {
    get { state.withLock { $0.service } }
    set { state.withLock { $0.service = newValue } }
  }
  /// Keeps the store's lock for the life of the process.
  func hold(_ lock: EngineLock) { state.withLock { $0.lock = lock } }

  /// Begins to end at any of these signals, for as long as the result is kept.
  func listen(to signals: [Int32]) -> [any DispatchSourceSignal] {
    signals.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { @Sendable [self] in begin() }
      source.resume()
      return source
    }
  }

  func mainSessionEnded() {
    state.withLock { $0.isMainOver = true }
    guard linger, let service else { return begin() }
    service.sessions.whenEmpty { [self] in endIfIdle() }
  }

  private func endIfIdle() {
    guard let engine else { return begin() }
    engine.whenIdle { [self] in
      if service?.sessions.count == 0 { begin() }
    }
  }

  /// Stops the work, saves, and ends the process.
  func begin() {
    let (isFirst, engine, service) = state.withLock { state in
      defer { state.hasBegun = true }
      return (!state.hasBegun, state.engine, state.service)
    }
    guard isFirst else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(deadlineSeconds)) { [log] in
      log(.warning, "some work did not stop in time; the next start takes it up")
      _exit(0)
    }
    Task {
      await engine?.stop()
      _ = service
      exit(0)
    }
  }
}
