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

/// The warm workers: each is kept for the next order, and let go when it has had none for a while. The one that rested last
/// is taken first, so that one that is not needed any more gets its rest.
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
    /// How long a worker waits for its next order, in milliseconds.
    var patienceMs = 10_000
  }

  private struct Idle {
    let worker: ExportWorker
    /// Of this rest: a worker that was taken meanwhile may lie here again.
    let number: UInt64
  }

  private struct State {
    var idle: [WorkerKind: [Idle]] = [:]
    var rests: UInt64 = 0
    var hasTold = false
  }

  private let settings: Settings
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "taskcenter.workers")

  init(_ settings: Settings) { self.settings = settings }

  /// Workers that wait for an order.
  var idleWorkers: Int { state.withLock { $0.idle.values.reduce(0) { $0 + $1.count } } }

  /// - Throws: `Failure`, `CancellationError`.
  func run(
    _ order: ExportOrder, input: OpenFile?, timeoutMs: Int64, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> ExportReport {
    let worker = try take(WorkerKind(order.job), timeoutMs: timeoutMs)
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

  private func take(_ kind: WorkerKind, timeoutMs: Int64) throws -> ExportWorker {
    let (warm, tells) = state.withLock { state -> (ExportWorker?, Bool) in
      while let idle = state.idle[kind]?.popLast() { if idle.worker.isUsable { return (idle.worker, false) } }
      defer { state.hasTold = true }
      return (nil, settings.tellsLacks && !state.hasTold)
    }
    if let warm { return warm }
    // More than that it can't use before its time is over; it holds also while this engine stands still.
    let processorTime = (timeoutMs / 1_000 + 1) * Int64(SystemProcess.usableCores)
    var arguments = [
      "--folder", settings.folder, "--memory-limit", String(settings.memoryLimit), "--cpu-limit", String(processorTime),
    ]
    if kind == .archives { arguments.append("--archives") }
    if tells { arguments.append("--debug") }
    return try ExportWorker(program: settings.program, arguments: arguments)
  }

  private func giveBack(_ worker: ExportWorker, after order: ExportOrder) {
    // A movie leaves a large heap behind; photos are worth staying warm for.
    if case .video = order.job, !order.plansOnly { return worker.retire() }
    guard worker.isUsable else { return }
    let kind = WorkerKind(order.job)
    let number = state.withLock { state in
      state.rests += 1
      state.idle[kind, default: []].append(Idle(worker: worker, number: state.rests))
      return state.rests
    }
    queue.asyncAfter(deadline: .now() + .milliseconds(settings.patienceMs)) { [self] in
      let hasRested = state.withLock { state in
        guard let place = state.idle[kind]?.firstIndex(where: { $0.number == number }) else { return false }
        state.idle[kind]?.remove(at: place)
        return true
      }
      if hasRested { worker.retire() }
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
