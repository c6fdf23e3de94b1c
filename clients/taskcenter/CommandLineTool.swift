import JSONRPC
import Platform

/// One subcommand.
protocol Command {
  static var name: String { get }
  /// The first line is the usage, the rest explains.
  static var help: String { get }
  /// - Returns: the exit status.
  static func run(_ words: [String]) throws -> Int32
}

/// From words to a subcommand, and from errors to sentences and exit statuses.
enum CommandLineTool {
  static let version = "0.1.0"

  static var commands: [any Command.Type] {
    [
      Send.self, Plan.self, List.self, Show.self, Watch.self, Cancel.self, Retry.self, Delete.self, Pause.self,
      Resume.self, Update.self, Logout.self, Status.self, Serve.self, Completion.self,
    ]
  }

  static let help = """
    usage: taskcenter COMMAND [ARGUMENTS]

      send feed|chat|message|avatar|log FILE…   send media; returns at once, the engine goes on
      plan FILE…                                what a send would make of files
      list                                      the tasks, newest first
      show ID…                                  a task with its receipts and its history
      watch [ID…]                               live progress
      cancel ID…   retry ID…   delete ID…       take back, try again, forget
      pause ID…    resume ID…   update ID…      hold, let go on, change text, priority or time
      logout ACCOUNT                            cancel and forget everything of one account
      status                                    how the engine is
      serve …                                   the engine itself on stdin and stdout (taskcenterd)
      completion bash|zsh|fish                  completions for a shell
      help [COMMAND]   --version

    Everywhere: --store DIR, --config FILE, --json, --help. An ID may be shortened to its beginning or its end, at least 4
    characters; "last" is the newest task.

    Exit status: 0 all well; 1 a task failed or was canceled; 64 wrong usage; 65 the store is of a newer version; 66 a file
    can't be sent; 69 no engine; 70 a bug, or the engine crashed; 73 the store can't be used; 74 the output can't be
    written; 75 try again; 78 the config is broken; 130 Ctrl-C.
    """

  static func run(_ words: [String]) -> Int32 {
    do {
      return try dispatch(words)
    } catch let stop as Stop {
      return end(with: stop)
    } catch let problem as Arguments.Problem {
      let name = words.first.flatMap(command)?.name
      Terminal.complain("taskcenter: \(problem.message)\nSee: taskcenter help\(name.map { " \($0)" } ?? "")")
      return Exit.usage
    } catch let error as RPCError {
      return end(with: ErrorSentence.of(error))
    } catch {
      return end(with: Stop(status: Exit.internalError, message: "\(error)"))
    }
  }

  private static func end(with stop: Stop) -> Int32 {
    if !stop.message.isEmpty { Terminal.complain("taskcenter: \(stop.message)") }
    return stop.status
  }

  private static func dispatch(_ words: [String]) throws -> Int32 {
    guard let name = words.first else {
      Terminal.complain(help)
      return Exit.usage
    }
    let rest = Array(words.dropFirst())
    switch name {
    case "--version":
      Terminal.print("taskcenter \(version)")
      return Exit.ok
    case "help", "--help", "-h":
      Terminal.print(try rest.first.map { try known($0).help } ?? help)
      return Exit.ok
    default: break
    }
    let command = try known(name)
    if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
      Terminal.print(command.help)
      return Exit.ok
    }
    return try command.run(rest)
  }

  private static func command(_ name: String) -> (any Command.Type)? { commands.first { $0.name == name } }

  /// - Throws: `Arguments.Problem`.
  private static func known(_ name: String) throws -> any Command.Type {
    if let command = command(name) { return command }
    guard !name.hasPrefix("-") else { throw Arguments.Problem(message: "options come after the command") }
    let hint = Nearest.to(name, among: commands.map { $0.name }).map { "; did you mean \($0)?" } ?? ""
    throw Arguments.Problem(message: "unknown command \"\(name)\"\(hint)")
  }
}
