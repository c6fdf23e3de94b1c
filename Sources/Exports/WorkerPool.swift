import Dispatch
import ExportProtocol
import Platform
import Synchronization
import TaskModel

/// What a worker is for: each kind has a sandbox of its own.
enum WorkerKind: Hashable {
  /// Reads nothing but the descriptor that comes with an order.
  case media
  /// Reads files by their paths, and decodes nothing.
  case archives

  init(_ job: ExportJob) { self = job.takesInput ? .media : .archives }
}

/// The warm workers: one is kept for the next order, and let go when there is none for a while.
final class WorkerPool: Sendable {
  struct Settings {
    /// Path of `taskcenter-export`.
    var program: String
    /// The only one where workers may write.
    var folder: String
    /// Bytes.
    var memoryLimit: Int64
    /// Whether the first worker says on stderr what this machine's sandbox lacks.
    var tellsLacks: Bool
  }

  private struct State {
    var idle: [WorkerKind: [ExportWorker]] = [:]
    var leases = 0
    var hasTold = false
  }

  private let settings: Settings
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "taskcenter.workers")

  private static let idleSeconds = 10

  init(_ settings: Settings) { self.settings = settings }

  /// - Throws: `Failure`, `CancellationError`.
  func run(
    _ order: ExportOrder, input: OpenFile?, timeoutMs: Int64, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> ExportReport {
    let worker = try take(WorkerKind(order.job))
    defer { giveBack(worker, after: order) }
    let alarm = Alarm(worker)
    queue.asyncAfter(deadline: .now() + .milliseconds(Int(timeoutMs))) { [weak alarm] in alarm?.ring() }
    defer { alarm.turnOff() }
    do {
      return try await worker.run(order, input: input, progress: progress)
    } catch let failure as Failure where failure.code == .exportCrashed && alarm.hasRung {
      throw Failure(.exportTimedOut, "the export took longer than \(timeoutMs / 1_000) s", remedy: .retry)
    }
  }

  private func take(_ kind: WorkerKind) throws -> ExportWorker {
    let (warm, tells) = state.withLock { state -> (ExportWorker?, Bool) in
      state.leases += 1
      while let worker = state.idle[kind]?.popLast() { if worker.isUsable { return (worker, false) } }
      defer { state.hasTold = true }
      return (nil, settings.tellsLacks && !state.hasTold)
    }
    if let warm { return warm }
    var arguments = ["--folder", settings.folder, "--memory-limit", String(settings.memoryLimit)]
    if kind == .archives { arguments.append("--archives") }
    if tells { arguments.append("--debug") }
    return try ExportWorker(program: settings.program, arguments: arguments)
  }

  private func giveBack(_ worker: ExportWorker, after order: ExportOrder) {
    // A movie leaves a large heap behind; photos are worth staying warm for.
    if case .video = order.job, !order.plansOnly { return worker.retire() }
    guard worker.isUsable else { return }
    let lease = state.withLock { state in
      state.idle[WorkerKind(order.job), default: []].append(worker)
      return state.leases
    }
    queue.asyncAfter(deadline: .now() + .seconds(WorkerPool.idleSeconds)) { [self] in
      let rested = state.withLock { state -> [ExportWorker] in
        guard state.leases == lease else { return [] }
        defer { state.idle = [:] }
        return state.idle.values.flatMap { $0 }
      }
      for worker in rested { worker.retire() }
    }
  }
}

/// Kills a worker that takes too long, and remembers that it did.
private final class Alarm: Sendable {
  private let worker: ExportWorker
  private let state = Mutex((hasRung: false, isOff: false))

  init(_ worker: ExportWorker) { self.worker = worker }

  var hasRung: Bool { state.withLock { $0.hasRung } }
  func turnOff() { state.withLock { $0.isOff = true } }

  func ring() {
    let isOff = state.withLock { state in
      if !state.isOff { state.hasRung = true }
      return state.isOff
    }
    if !isOff { worker.kill() }
  }
}
