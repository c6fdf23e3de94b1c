import Glibc

/// Thins out progress: never falling, at most ten times a second, and 1 only for what is really done.
final class ProgressMeter {
  private let report: (Double) -> Void
  private let now: () -> Int64
  private var last = 0.0
  private var lastTime: Int64?

  /// Milliseconds between two reports.
  static let interval: Int64 = 100

  /// - Parameter now: milliseconds of a clock that never jumps.
  init(now: @escaping () -> Int64 = ProgressMeter.monotonicMs, _ report: @escaping (Double) -> Void) {
    self.now = now
    self.report = report
  }

  /// - Parameter fraction: anything; the last two of a hundred are kept for completing the file.
  func update(_ fraction: Double) {
    guard fraction.isFinite else { return }
    let value = min(0.98, fraction)
    let time = now()
    guard value > last, lastTime.map({ time - $0 >= Self.interval }) ?? true else { return }
    last = value
    lastTime = time
    report(value)
  }

  private static func monotonicMs() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
  }
}
