import JSON

/// `taskcenter watch`
enum Watch: Command {
  static let name = "watch"
  static let help = """
    usage: taskcenter watch [ID…] [--json]

    Live progress: bars on a terminal, a line for each change when piped, one JSON event a line with --json. With IDs it
    ends when these tasks have ended (exit status 1 if one was not sent); without, at Ctrl-C, or when piped as soon as
    nothing is left to do.
    """

  static func run(_ words: [String]) throws -> Int32 {
    let common = try Common(words)
    let connection = try common.connect()
    let ids = common.arguments.rest.isEmpty ? [] : try common.ids(connection)
    let tasks = try Follow(connection, ids: ids, wantsJSON: common.wantsJSON).run()
    let isWhole = ids.isEmpty || tasks.allSatisfy { $0["state"]?.string == "sent" }
    return isWhole ? Exit.ok : Exit.failed
  }
}
