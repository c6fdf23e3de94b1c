import Glibc

/// What a worker takes from itself before it touches a file of a stranger.
enum Sandbox {
  /// Bytes that mappings of files and reserved addresses may take beyond what is really written to.
  private static let addressSlack: UInt64 = 2 << 30

  /// - Parameter memory: bytes; nil for no limit.
  static func enter(memory: UInt64?) {
    // A reader that has gone, or a file-size limit, is an error of the call and not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    // A dump of a crash would hold a stranger's picture.
    limit(Int32(RLIMIT_CORE.rawValue), 0)
    guard let memory else { return }
    // RLIMIT_DATA counts what can be written to, and so comes close to the memory in use; RLIMIT_AS also counts the
    // libraries, and is the net below it.
    limit(Int32(RLIMIT_DATA.rawValue), memory)
    limit(Int32(RLIMIT_AS.rawValue), memory + addressSlack)
  }

  private static func limit(_ resource: __rlimit_resource_t, _ value: UInt64) {
    var limits = rlimit(rlim_cur: rlim_t(value), rlim_max: rlim_t(value))
    setrlimit(resource, &limits)
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
}
