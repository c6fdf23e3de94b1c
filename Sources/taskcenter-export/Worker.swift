import Dispatch
import ExportProtocol
import Glibc
import Sandbox
import TaskModel

/// Serves orders until the engine goes.
enum Worker {
  /// - Parameters:
  ///   - descriptor: of the channel.
  ///   - allowed: what an order may be about.
  ///   - processorTime: seconds that any order may take; nil for no limit but its own.
  /// - Returns: the exit status.
  static func serve(_ descriptor: Int32, _ allowed: AllowedOrders, processorTime: UInt64?) -> Int32 {
    let channel = ExportChannel(descriptor: descriptor)
    // When the engine dies in the middle of an order nobody wants the result. The kernel's parent-death signal would not
    // do: it comes when the *thread* ends that started the worker (prctl(2)), and the engine's threads come and go.
    DispatchQueue.global().async {
      channel.waitForHangUp()
      _exit(0)
    }
    do throws(ExportChannelError) {
      // An order may outlive its engine in the socket. Where the engine is still there now, its successor will wait for
      // this worker's lock before it sweeps.
      while let (order, input) = try channel.receiveOrder(), !channel.hasHungUp {
        let report = run(order, input, allowed, processorTime) { fraction in
          try? channel.send(.progress(id: order.id, fraction: fraction))
        }
        if let input { close(input) }
        try channel.send(report)
      }
      return 0
    } catch {
      complain("taskcenter-export: \(error)")
      return 70
    }
  }

  private static func run(
    _ order: ExportOrder, _ input: Int32?, _ allowed: AllowedOrders, _ processorTime: UInt64?,
    progress: @escaping (Double) -> Void
  ) -> ExportReport {
    if let refusal = allowed.refusal(of: order) { return .failed(id: order.id, refusal) }
    ResourceLimits.setLargestFile(order.largestOutput)
    ResourceLimits.setProcessorTime([order.processorTime, processorTime].compactMap { $0 }.min())
    defer {
      ResourceLimits.setLargestFile(nil)
      ResourceLimits.setProcessorTime(nil)
    }
    return OrderRunner.run(order, input: input, progress: progress)
  }

  /// The channel comes as descriptor 0. It moves away, so that no library can read it; and what a library prints goes
  /// to stderr.
  /// - Returns: the channel's new descriptor, or nil where there is none.
  static func moveChannelAside() -> Int32? {
    let channel = fcntl(0, F_DUPFD_CLOEXEC, 3)
    let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard channel >= 0, null >= 0 else { return nil }
    dup2(null, 0)
    close(null)
    dup2(2, 1)
    return channel
  }

  /// Tells the next engine, should this one die, that a worker may still be writing in `folder`. Ends with the process.
  /// - Returns: whether that worked.
  static func announce(in folder: String) -> Bool {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    return descriptor >= 0 && flock(descriptor, LOCK_SH | LOCK_NB) == 0
  }

  static func complain(_ message: String) {
    let line = Array((message + "\n").utf8)
    _ = write(2, line, line.count)
  }
}
