import Platform

/// `taskcenter serve`: becomes the engine.
enum Serve: Command {
  static let name = "serve"
  static let help = """
    usage: taskcenter serve [--store DIR] [--config FILE] [--linger] [--log-level LEVEL] [--log-format text|json]

    The engine itself: JSON-RPC 2.0 on stdin and stdout, logs on stderr. The same as taskcenterd.
    """

  static func run(_ words: [String]) throws -> Int32 {
    let program = Paths.engineProgram
    let error = Exec.replace(program, ["taskcenterd"] + words)
    throw Stop(status: Exit.unavailable, message: "\(program) can't be started: \(error.reason)")
  }
}
