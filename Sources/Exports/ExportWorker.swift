import Dispatch
import ExportProtocol
import Glibc
import Platform
import Synchronization
import TaskModel

/// One `taskcenter-export` process and the thread that starts it, talks with it and reaps it. It serves orders one after
/// the other, so that many photos pay for one start.
final class ExportWorker: Sendable {
  /// How an order ended: with the final report, where it is none of a failure.
  typealias Outcome = Result<ExportReport, Failure>

  private struct Job {
    let order: ExportOrder
    let input: OpenFile?
    let progress: @Sendable (Double) -> Void
    let done: @Sendable (Outcome) -> Void
  }

  private struct State {
    var jobs: [Job] = []
    var isClosed = false
    /// Nil before the start and after the end.
    var process: pid_t?
    var wasKilled = false
  }

  private let program: String
  private let arguments: [String]
  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)

  /// - Parameter arguments: of the program, without its own name.
  /// - Throws: `Failure` where there is no thread for it.
  init(program: String, arguments: [String]) throws(Failure) {
    self.program = program
    self.arguments = arguments
    do {
      try OwnThread.start(name: "tc-export") { [self] in run() }
    } catch {
      throw Failure(.exportCrashed, "no thread for the export: \(error)", remedy: .retry)
    }
  }

  var isUsable: Bool { state.withLock { !$0.isClosed } }

  /// Runs one order; ends within moments of a cancel, because then the process is killed.
  func run(
    _ order: ExportOrder, input: OpenFile?, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> ExportReport {
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
        enqueue(Job(order: order, input: input, progress: progress, done: { continuation.resume(returning: $0) }))
      }
    } onCancel: {
      kill()
    }
    try Task.checkCancellation()
    return try outcome.get()
  }

  /// Lets the process go when it has nothing more to do.
  func retire() {
    state.withLock { $0.isClosed = true }
    wake.signal()
  }

  /// Ends the process now, whatever it does.
  func kill() {
    state.withLock { state in
      state.isClosed = true
      state.wasKilled = true
      // Not reaped yet, so the number is still this process's.
      if let process = state.process { Glibc.kill(process, SIGKILL) }
    }
    wake.signal()
  }

  private func enqueue(_ job: Job) {
    let isLate = state.withLock { state in
      if state.isClosed { return true }
      state.jobs.append(job)
      return false
    }
    if isLate { return job.done(.failure(ExportWorker.gone)) }
    wake.signal()
  }

  private static let gone = Failure(.exportCrashed, "the export worker ended before its time", remedy: .retry)

  private static let tooSlow = Failure(
    .exportTimedOut, "the export took more processor time than it may", remedy: .retry)

  // MARK: The worker's thread

  private func run() {
    var channel: ExportChannel?
    while let job = nextJob() {
      do throws(Failure) {
        let opened = if let channel { channel } else { try start() }
        channel = opened
        var outcome = serve(job, on: opened)
        // Who hears that an order was broken off may count on its process being gone.
        if !isUsable {
          opened.shutDown()
          if reap() == SIGXCPU, case .failure = outcome { outcome = .failure(ExportWorker.tooSlow) }
        }
        job.done(outcome)
      } catch {
        job.done(.failure(error))
      }
      if !isUsable { break }
    }
    channel?.shutDown()
    channel = nil
    reap()
    let left = state.withLock { state in
      state.isClosed = true
      defer { state.jobs = [] }
      return state.jobs
    }
    for job in left { job.done(.failure(ExportWorker.gone)) }
  }

  private func nextJob() -> Job? {
    while true {
      let (job, isClosed) = state.withLock { state in
        (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.isClosed)
      }
      if let job { return job }
      if isClosed { return nil }
      wake.wait()
    }
  }

  private func start() throws(Failure) -> ExportChannel {
    do {
      let (ours, theirs) = try ExportChannel.pair()
      defer { close(theirs) }
      let process = try ChildProcess.spawn(program, ["taskcenter-export"] + arguments, descriptorZero: theirs)
      let isLate = state.withLock { state in
        state.process = process
        return state.wasKilled
      }
      if isLate { Glibc.kill(process, SIGKILL) }
      return ours
    } catch {
      throw Failure(.exportCrashed, "the export worker \(program) can't be started: \(error)", remedy: .retry)
    }
  }

  private func serve(_ job: Job, on channel: ExportChannel) -> Outcome {
    do throws(ExportChannelError) {
      try channel.send(job.order, input: job.input?.descriptor)
      while let report = try channel.receiveReport() {
        switch report {
        case .progress(_, let fraction): job.progress(fraction)
        case .failed(_, let failure): return .failure(failure)
        case .done, .planned, .probed: return .success(report)
        }
      }
    } catch {}
    state.withLock { $0.isClosed = true }
    return .failure(Failure(.exportCrashed, "the export worker died over \(job.order.name)", remedy: .retry))
  }

  /// - Returns: the signal that ended it; nil where it ended by itself, or had been reaped before.
  @discardableResult
  private func reap() -> Int32? {
    guard let process = state.withLock({ $0.process }) else { return nil }
    // Closing the channel ends a healthy worker; one that hangs is ended here.
    let signal = ChildProcess.waitOrKill(process, patienceMs: 2_000)
    state.withLock { $0.process = nil }
    return signal
  }
}
