import Synchronization
import TaskModel
import TaskStorage

/// Tells servers about uploads that nobody will finish, so that no half of a file stays with them: in the background, one
/// after the other, the latest first, again after a restart, until each has understood.
final class UploadReaper: Sendable {
  private struct State {
    var isRunning = false
    var isWanted = false
    var isStopped = false
    var task: Task<Void, Never>?
    /// The wait before the next round.
    var pause: Task<Void, Never>?
  }

  private let store: TaskStore
  private let uploader: any Uploader
  private let clock: any Clock
  private let backoff: Backoff
  private let log: Log
  private let state = Mutex(State())

  /// A server that did not understand for a week has swept the upload by itself, or never will.
  static let patienceMs: Int64 = 7 * 86_400_000

  init(store: TaskStore, uploader: any Uploader, clock: any Clock, backoff: Backoff, log: Log) {
    self.store = store
    self.uploader = uploader
    self.clock = clock
    self.backoff = backoff
    self.log = log
  }

  /// There is something to do, or may be; a server that is out of order keeps nobody else waiting.
  func wake() {
    state.withLock { state in
      guard !state.isStopped else { return }
      state.isWanted = true
      state.pause?.cancel()
      guard !state.isRunning else { return }
      state.isRunning = true
      state.task = Task { await run() }
    }
  }

  /// Ends it; what is left is in the store.
  func stop() async {
    let task = state.withLock { state in
      state.isStopped = true
      return state.task
    }
    task?.cancel()
    await task?.value
  }

  private func run() async {
    var failures = 0
    while takeWish() || failures > 0 {
      do {
        if try await round() { failures = 0 } else { failures += 1 }
      } catch is CancellationError {
        break
      } catch {
        log(.warning, "abandoned uploads can't be read: \(error)")
        failures += 1
      }
      guard failures > 0 else { continue }
      let delay = backoff.delayMs(afterFailedAttempts: failures, jitter: Double.random(in: Backoff.jitterRange))
      await pause(delay)
      if Task.isCancelled { break }
    }
    // A wish that came in between would otherwise wait for the next one.
    let isWanted = state.withLock { state in
      state.isRunning = false
      return state.isWanted && !state.isStopped
    }
    if isWanted, !Task.isCancelled { wake() }
  }

  /// Ends early where there is more to do.
  private func pause(_ milliseconds: Int64) async {
    let clock = clock
    let pause = Task { _ = try? await clock.sleep(milliseconds: milliseconds) }
    let isWanted = state.withLock { state in
      state.pause = pause
      return state.isWanted
    }
    if isWanted { pause.cancel() }
    await withTaskCancellationHandler {
      await pause.value
    } onCancel: {
      pause.cancel()
    }
    state.withLock { $0.pause = nil }
  }

  private func takeWish() -> Bool {
    state.withLock { state in
      defer { state.isWanted = false }
      return state.isWanted
    }
  }

  /// - Returns: whether nothing is left.
  private func round() async throws -> Bool {
    var isDone = true
    // The latest first: what has been tried in vain before waits behind it.
    for upload in try await store.read({ try $0.abandonedUploads() }).reversed() {
      try Task.checkCancellation()
      guard await isSettled(upload) else {
        isDone = false
        continue
      }
      try await store.write { try $0.forget(upload) }
    }
    return isDone
  }

  private func isSettled(_ upload: AbandonedUpload) async -> Bool {
    do {
      try await uploader.abandon(upload.state, destination: upload.destination)
      return true
    } catch let failure as Failure where failure.isPermanent {
      log(.warning, "an upload to \(upload.destination) could not be taken back: \(failure.message)")
      return true
    } catch {
      return clock.now() - upload.abandonedAt > UploadReaper.patienceMs
    }
  }
}
