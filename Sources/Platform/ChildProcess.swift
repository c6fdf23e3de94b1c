import CPlatform
import Glibc

/// Starting and ending other programs. A child inherits nothing but the descriptors that it is given, whatever this process
/// was given by its own parent: a lock or a pipe that lives on in another process is held for ever.
public enum ChildProcess {
  /// Starts `program` with `descriptorZero` as its standard input; its standard output and error are this process's
  /// descriptor 2, so that no child ever writes into a protocol. Signal handling starts anew.
  /// - Parameter arguments: the first is the program's own name.
  /// - Throws: `SystemError`.
  public static func spawn(
    _ program: String, _ arguments: [String], descriptorZero: Int32
  ) throws(SystemError) -> Int32 {
    try spawn(program, arguments, descriptors: [(descriptorZero, 0), (2, 1)], flags: 0)
  }

  /// Starts `program` in a session of its own, which no terminal's signals reach and which outlives this process.
  /// - Throws: `SystemError`.
  public static func spawnDetached(
    _ program: String, _ arguments: [String], input: OpenFile, output: OpenFile, errors: OpenFile
  ) throws(SystemError) -> Int32 {
    let descriptors = [(input.descriptor, Int32(0)), (output.descriptor, 1), (errors.descriptor, 2)]
    return try spawn(program, arguments, descriptors: descriptors, flags: Int16(newSession))
  }

  /// POSIX_SPAWN_SETSID of <spawn.h>, which shows it only with _GNU_SOURCE.
  private static let newSession: Int32 = 0x80

  private static func spawn(
    _ program: String, _ arguments: [String], descriptors: [(from: Int32, to: Int32)], flags: Int16
  ) throws(SystemError) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (from, to) in descriptors { posix_spawn_file_actions_adddup2(&actions, from, to) }
    tc_spawn_close_from(&actions, 3)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var all = sigset_t()
    sigfillset(&all)
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(
      &attributes, flags | Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK))
    var vector: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { for argument in vector { free(argument) } }
    var process = Int32()
    let status = posix_spawn(&process, program, &actions, &attributes, &vector, environ)
    guard status == 0 else { throw SystemError("posix_spawn", number: status) }
    return process
  }

  /// Reaps a child that is about to end; kills it if it takes longer than that.
  /// - Returns: the signal that ended it; nil where it ended by itself.
  @discardableResult
  public static func waitOrKill(_ process: Int32, patienceMs: Int64) -> Int32? {
    var status: Int32 = 0
    let deadline = SystemTime.monotonicMs() + patienceMs
    while true {
      let result = waitpid(process, &status, WNOHANG)
      if result == process { return signal(of: status) }
      if result < 0, errno != EINTR { return nil }
      if SystemTime.monotonicMs() >= deadline {
        kill(process, SIGKILL)
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return SIGKILL
      }
      usleep(2_000)
    }
  }

  /// WTERMSIG of <sys/wait.h>, which is a macro.
  private static func signal(of status: Int32) -> Int32? { status & 0x7F == 0 ? nil : status & 0x7F }
}

/// Becoming another program.
public enum Exec {
  /// Returns only where it did not work, with the reason.
  public static func replace(_ program: String, _ arguments: [String]) -> SystemError {
    var vector: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    execv(program, &vector)
    return SystemError.last("execv")
  }
}
