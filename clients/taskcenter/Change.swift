import JSON
import JSONRPC
import TaskProtocol

/// The subcommands that do one thing to each task they are given.
enum Change {
  static func run(
    _ words: [String], options: Set<String> = [], _ change: (String, EngineConnection) throws -> JSONValue?
  ) throws -> Int32 {
    let common = try Common(words, options: options)
    _ = try common.words()
    let connection = try common.engine.connect()
    var status = Exit.ok
    for id in try common.ids(connection) {
      do {
        let task = try change(id, connection)
        if common.wantsJSON {
          Terminal.print(JSONWriter.text(task ?? ["id": .string(id), "deleted": true]))
        } else {
          Terminal.print(task.map(Describe.line) ?? "\(id) deleted")
        }
      } catch let error as RPCError {
        // The others are not to suffer from it; the first reason is the exit status.
        let stop = ErrorSentence.of(error, sameEngine: common.sameEngine)
        Terminal.complain("taskcenter: \(id): \(stop.message)")
        if status == Exit.ok { status = stop.status }
      }
    }
    return status
  }
}

enum Cancel: Command {
  static let name = "cancel"
  static let help = """
    usage: taskcenter cancel ID… [--json]

    Takes sends back. The answer is what is true: canceled, or sent where it came too late.
    """
  static func run(_ words: [String]) throws -> Int32 {
    try Change.run(words) { try $1.call(CancelTask(id: $0))["task"] }
  }
}

enum Retry: Command {
  static let name = "retry"
  static let help = """
    usage: taskcenter retry ID… [--json]

    Tries failed sends again, with their files as they are now. What is up already is not sent again.
    """
  static func run(_ words: [String]) throws -> Int32 {
    try Change.run(words) { try $1.call(RetryTask(id: $0))["task"] }
  }
}

enum Pause: Command {
  static let name = "pause"
  static let help = """
    usage: taskcenter pause ID… [--json]

    Holds sends until they are resumed; those behind them in their lane go first.
    """
  static func run(_ words: [String]) throws -> Int32 {
    try Change.run(words) { try $1.call(PauseTask(id: $0))["task"] }
  }
}

enum Resume: Command {
  static let name = "resume"
  static let help = """
    usage: taskcenter resume ID… [--json]

    Lets paused sends go on, with what is still missing.
    """
  static func run(_ words: [String]) throws -> Int32 {
    try Change.run(words) { try $1.call(ResumeTask(id: $0))["task"] }
  }
}

enum Delete: Command {
  static let name = "delete"
  static let help = """
    usage: taskcenter delete ID… [--json]

    Forgets tasks with their work files; one that runs is canceled first.
    """
  static func run(_ words: [String]) throws -> Int32 {
    try Change.run(words) {
      _ = try $1.call(DeleteTask(id: $0))
      return nil
    }
  }
}
