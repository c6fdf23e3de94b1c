import Dispatch

/// Pins an actor to one serial queue, so that blocking database calls never hold a thread of Swift's own pool.
/// (`DispatchSerialQueue` would do, but does not exist outside Apple's systems.)
final class QueueExecutor: SerialExecutor {
  private let queue: DispatchQueue

  init(label: String) { queue = DispatchQueue(label: label) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func enqueue(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
  func enqueue(at time: DispatchTime, _ work: @escaping @Sendable () -> Void) {
    queue.asyncAfter(deadline: time, execute: work)
  }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
  func isIsolatingCurrentContext() -> Bool? { nil }
}
