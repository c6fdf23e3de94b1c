import Dispatch
import ExportProtocol
import Platform
import Synchronization
import TaskModel

/// The warm workers: one is kept for the next order, and let go when there is none for a while.
final class WorkerPool: Sendable {
  private struct State {
    var idle: [ExportWorker] = []
    var leases = 0
  }

  private let program: String
  private let memoryLimit: Int64
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "taskcenter.workers")

  private static let idleSeconds = 10

  init(program: String, memoryLimit: Int64) {
    self.program = program
    self.memoryLimit = memoryLimit
  }

  /// - Throws: `Failure`, `CancellationError`.
  func run(
    _ order: ExportOrder, input: OpenFile?, timeoutMs: Int64, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> ExportReport {
    let worker = try take()
    defer { giveBack(worker, after: order) }
    let alarm = Alarm(worker)
    queue.asyncAfter(deadline: .now() + .milliseconds(Int(timeoutMs))) { [weak alarm] in alarm?.ring() }
    defer { alarm.turnOff() }
    do {
      return try await worker.run(order, input: input, progress: progress)
    } catch let failure as Failure where failure.code == .exportCrashed && alarm.hasRung {
      throw Failure(.exportTimedOut, "the export took longer than \(timeoutMs / 1_000) s", remedy: .giveUp)
    }
  }

  private func take() throws -> ExportWorker {
    let warm = state.withLock { state -> ExportWorker? in
      state.leases += 1
      while let worker = state.idle.popLast() { if worker.isUsable { return worker } }
      return nil
    }
    return try warm ?? ExportWorker(program: program, memoryLimit: memoryLimit)
  }

  private func giveBack(_ worker: ExportWorker, after order: ExportOrder) {
    // A movie leaves a large heap behind; photos are worth staying warm for.
    if case .video = order.job, !order.plansOnly { return worker.retire() }
    guard worker.isUsable else { return }
    let lease = state.withLock { state in
      state.idle.append(worker)
      return state.leases
    }
    queue.asyncAfter(deadline: .now() + .seconds(WorkerPool.idleSeconds)) { [self] in
      let rested = state.withLock { state -> [ExportWorker] in
        guard state.leases == lease else { return [] }
        defer { state.idle = [] }
        return state.idle
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
