import Dispatch
import ExportProtocol
import Glibc
import TaskModel

/// Serves orders until the engine goes.
enum Worker {
  /// - Parameter descriptor: of the channel.
  /// - Returns: the exit status.
  static func serve(_ descriptor: Int32) -> Int32 {
    let channel = ExportChannel(descriptor: descriptor)
    // When the engine dies in the middle of an order nobody wants the result. The kernel's parent-death signal would not
    // do: it comes when the *thread* ends that started the worker (prctl(2)), and the engine's threads come and go.
    DispatchQueue.global().async {
      channel.waitForHangUp()
      _exit(0)
    }
    do throws(ExportChannelError) {
      while let (order, input) = try channel.receiveOrder() {
        let report = OrderRunner.run(order, input: input) { fraction in
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

  static func complain(_ message: String) {
    let line = Array((message + "\n").utf8)
    _ = write(2, line, line.count)
  }
}
