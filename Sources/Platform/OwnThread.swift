import CPlatform
import Glibc

/// One POSIX thread for a loop that blocks for as long as the process lives.
public enum OwnThread {
  /// Starts a detached thread that runs `body` with every signal blocked: signals are for the main thread, and a write
  /// to a connection that is gone must not end the process by SIGPIPE.
  /// - Parameter name: at most 15 bytes, for ps(1) and debuggers.
  /// - Throws: `SystemError` where the system has no thread left.
  public static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let box = Unmanaged.passRetained(Body(name: name, run: body))
    var thread = pthread_t()
    let status = pthread_create(&thread, nil, { Body.enter($0) }, box.toOpaque())
    guard status == 0 else {
      box.release()
      throw SystemError("pthread_create", number: status)
    }
    pthread_detach(thread)
  }

  private final class Body {
    let name: String
    let run: @Sendable () -> Void
    init(name: String, run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }

    static func enter(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
      guard let argument else { return nil }
      let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
      var signals = sigset_t()
      sigfillset(&signals)
      pthread_sigmask(SIG_BLOCK, &signals, nil)
      tc_set_thread_name(body.name)
      body.run()
      return nil
    }
  }
}
