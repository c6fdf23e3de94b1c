import Glibc

/// Clocks of the system.
public enum SystemTime {
  /// Milliseconds of a clock that never jumps; only differences mean anything.
  public static func monotonicMs() -> Int64 { read(CLOCK_MONOTONIC) }
  /// The same, but it goes on while the machine sleeps.
  public static func steadyMs() -> Int64 { read(CLOCK_BOOTTIME) }
  /// Milliseconds since 1970.
  public static func wallMs() -> Int64 { read(CLOCK_REALTIME) }

  private static func read(_ clock: clockid_t) -> Int64 {
    var now = timespec()
    clock_gettime(clock, &now)
    return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
  }
}
