import Glibc

/// Starting and ending other programs.
public enum ChildProcess {
  /// Starts `program` with `descriptorZero` as its standard input; its standard output and error are this process's
  /// descriptor 2, so that no child ever writes into a protocol. Signal handling starts anew; all other descriptors are
  /// closed on exec.
  /// - Parameter arguments: the first is the program's own name.
  /// - Throws: `SystemError`.
  public static func spawn(
    _ program: String, _ arguments: [String], descriptorZero: Int32
  ) throws(SystemError) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, descriptorZero, 0)
    posix_spawn_file_actions_adddup2(&actions, 2, 1)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var all = sigset_t()
    sigfillset(&all)
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK))
    var vector: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { for argument in vector { free(argument) } }
    var process = Int32()
    let status = posix_spawn(&process, program, &actions, &attributes, &vector, environ)
    guard status == 0 else { throw SystemError("posix_spawn", number: status) }
    return process
  }

  /// Reaps a child that is about to end; kills it if it takes longer than that.
  public static func waitOrKill(_ process: Int32, patienceMs: Int64) {
    var status: Int32 = 0
    let deadline = SystemTime.monotonicMs() + patienceMs
    while true {
      let result = waitpid(process, &status, WNOHANG)
      if result == process || (result < 0 && errno != EINTR) { return }
      if SystemTime.monotonicMs() >= deadline {
        kill(process, SIGKILL)
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return
      }
      usleep(2_000)
    }
  }
}
