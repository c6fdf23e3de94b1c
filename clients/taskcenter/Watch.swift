import JSON
import TaskModel

/// `taskcenter watch`
enum Watch: Command {
  static let name = "watch"
  static let help = """
    usage: taskcenter watch [ID…] [--json]

    Live progress: bars on a terminal, a line for each change when piped, one JSON event a line with --json. With IDs it
    ends when these tasks have ended (exit status 1 if one was not sent); without, at Ctrl-C, or when piped as soon as
    nothing is left to run.
    """

  static func run(_ words: [String]) throws -> Int32 {
    let common = try Common(words)
    let isAll = common.arguments.rest.isEmpty
    if !isAll { _ = try common.words() }
    let connection = try common.engine.connect()
    let ids = isAll ? [] : try common.ids(connection)
    let follow = Follow(connection, ids: ids, to: 1, asJSON: common.wantsJSON, sameEngine: common.sameEngine)
    let tasks = try follow.run()
    return isAll || tasks.allSatisfy { $0["state"]?.string == TaskState.sent.rawValue } ? Exit.ok : Exit.failed
  }
}
