import Glibc

/// How much a process may use, for itself (setrlimit(2)).
public enum ResourceLimits {
  /// Bytes that mappings of files and reserved addresses may take beyond what is really written to.
  private static let addressSlack: UInt64 = 2 << 30
  /// Descriptors: an input, an output, and what the libraries hold.
  private static let files: UInt64 = 64

  /// - Parameter memory: bytes; nil for no limit.
  public static func enter(memory: UInt64?) {
    // A reader that has gone, or a file-size limit, is an error of the call and not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    // A crash ends the process at once: the Swift runtime's handler would start a debugger to tell of it, and where it may
    // not, let the process go on.
    for crash in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV] { signal(crash, SIG_DFL) }
    // A dump of a crash would hold a stranger's picture.
    limit(Int32(RLIMIT_CORE.rawValue), 0)
    limit(Int32(RLIMIT_NOFILE.rawValue), files)
    guard let memory else { return }
    // RLIMIT_DATA counts what can be written to, and so comes close to the memory in use; RLIMIT_AS also counts the
    // libraries, and is the net below it.
    limit(Int32(RLIMIT_DATA.rawValue), memory)
    limit(Int32(RLIMIT_AS.rawValue), memory + addressSlack)
  }

  /// How large a file may become from now on; writing beyond fails with EFBIG. It can be lifted again, as one process
  /// serves many orders.
  /// - Parameter bytes: nil for no limit.
  public static func setLargestFile(_ bytes: UInt64?) {
    var limits = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits)
    limits.rlim_cur = bytes.map { min(rlim_t($0), limits.rlim_max) } ?? limits.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits)
  }

  /// How much processor time all threads may take together from now on; what takes more ends the process with SIGXCPU. It
  /// can be lifted again, as one process serves many orders.
  /// - Parameter seconds: nil for no limit. The kernel counts whole seconds, so it may be one more.
  public static func setProcessorTime(_ seconds: UInt64?) {
    var limits = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limits)
    var used = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &used)
    // Both are rounded down.
    let spent = rlim_t(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 2
    limits.rlim_cur =
      seconds.map { min(spent + rlim_t(clamping: min($0, 1 << 31)), limits.rlim_max) } ?? limits.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limits)
  }

  private static func limit(_ resource: Int32, _ value: UInt64) {
    var limits = rlimit()
    getrlimit(__rlimit_resource_t(resource), &limits)
    // Never above what somebody else has set already, which would be refused.
    let value = min(rlim_t(value), limits.rlim_max)
    limits = rlimit(rlim_cur: value, rlim_max: value)
    setrlimit(__rlimit_resource_t(resource), &limits)
  }
}
