import Glibc

/// Thins out progress: never falling, at most ten times a second, and 1 only for what is really done.
final class ProgressMeter {
  private let report: (Double) -> Void
  private var last = 0.0
  private var lastTime: Int64?

  init(_ report: @escaping (Double) -> Void) { self.report = report }

  /// - Parameter fraction: anything; the last two of a hundred are kept for completing the file.
  func update(_ fraction: Double) {
    guard fraction.isFinite else { return }
    let value = min(0.98, fraction)
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let time = Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    guard value > last, lastTime.map({ time - $0 >= 100 }) ?? true else { return }
    last = value
    lastTime = time
    report(value)
  }
}
