import Glibc
import JSON
import JSONRPC
import TaskProtocol

/// One subcommand.
protocol Command {
  static var name: String { get }
  /// The first line is the usage, the rest explains.
  static var help: String { get }
  static func run(_ words: [String]) throws -> Int32
}

/// From words to a subcommand, and from errors to sentences and exit statuses.
enum CommandLineTool {
  static let version = "0.1.0"

  static var commands: [any Command.Type] {
    [
      Send.self, List.self, Show.self, Watch.self, Cancel.self, Retry.self, Delete.self, Status.self, Serve.self,
      Completion.self,
    ]
  }

  static let help = """
    usage: taskcenter COMMAND [ARGUMENTS]

      send feed|chat|message|avatar|log FILE…   send media; returns at once, the engine goes on
      list                                      the tasks, newest first
      show ID                                   one task with its receipts and its history
      watch [ID…]                               live progress
      cancel ID…   retry ID…   delete ID…       take back, try again, forget
      status                                    how the engine is
      serve …                                   the engine itself on stdin and stdout (taskcenterd)
      completion bash|zsh|fish                  completions for a shell
      help [COMMAND]

    Everywhere: --store DIR, --config FILE, --json, --help. An ID may be shortened to its first characters; "last" is the
    newest task.

    Exit status: 0 all well; 1 a task failed or was canceled; 64 wrong usage; 66 a file can't be sent; 69 no engine;
    75 try again; 78 the config is broken; 130 Ctrl-C.
    """

  static func run(_ words: [String]) -> Int32 {
    do {
      return try dispatch(words)
    } catch let stop as Stop {
      if !stop.message.isEmpty { Terminal.complain("taskcenter: \(stop.message)") }
      return stop.status
    } catch let problem as Arguments.Problem {
      Terminal.complain("taskcenter: \(problem.message)\nSee: taskcenter help")
      return Exit.usage
    } catch let error as RPCError {
      Terminal.complain("taskcenter: \(error.message)")
      return error.code == -32602 || error.code == -32006 ? Exit.badInput : Exit.unavailable
    } catch {
      Terminal.complain("taskcenter: \(error)")
      return 70
    }
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
      Terminal.print(rest.first.flatMap(command)?.help ?? help)
      return Exit.ok
    default: break
    }
    guard let command = command(name) else {
      throw Arguments.Problem(message: "unknown command \"\(name)\"")
    }
    if name != Serve.name, rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
      Terminal.print(command.help)
      return Exit.ok
    }
    return try command.run(rest)
  }

  private static func command(_ name: String) -> (any Command.Type)? { commands.first { $0.name == name } }
}

/// What most subcommands take.
struct Common {
  let arguments: Arguments
  let settings: EngineConnection.Settings
  let wantsJSON: Bool

  init(_ words: [String], options: Set<String> = [], flags: Set<String> = []) throws {
    arguments = try Arguments(
      words, options: options.union(["--store", "--config"]), flags: flags.union(["--json"]))
    settings = EngineConnection.Settings(
      store: arguments.value("--store"), config: arguments.value("--config"))
    wantsJSON = arguments.has("--json")
  }

  func connect() throws -> EngineConnection { try EngineConnection.open(settings) }

  /// The full ids that the words stand for.
  /// - Throws: `Stop` where a word fits no task, or several.
  func ids(_ connection: EngineConnection) throws -> [String] {
    guard !arguments.rest.isEmpty else { throw Arguments.Problem(message: "which task? Give an ID, or \"last\"") }
    return try arguments.rest.map { try TaskNames.resolve($0, connection) }
  }
}

/// Short names of tasks.
enum TaskNames {
  static let fullLength = 36

  static func resolve(_ word: String, _ connection: EngineConnection) throws -> String {
    if word.count == fullLength { return word }
    var list = ListTasks()
    list.fields = ["id"]
    list.limit = word == "last" ? 1 : 1_000
    let answer = try connection.call(list)
    let ids = (answer["tasks"]?.array ?? []).compactMap { $0["id"]?.string }
    return try pick(word, among: ids)
  }

  /// - Parameter ids: newest first.
  static func pick(_ word: String, among ids: [String]) throws -> String {
    if word == "last" {
      guard let newest = ids.first else { throw Stop(status: Exit.usage, message: "there is no task yet") }
      return newest
    }
    let found = ids.filter { $0.hasPrefix(word) || $0.hasSuffix(word) }
    switch found.count {
    case 1: return found[0]
    case 0: throw Stop(status: Exit.usage, message: "there is no task \"\(word)\"; see: taskcenter list")
    default:
      throw Stop(
        status: Exit.usage, message: "\"\(word)\" fits \(found.count) tasks: \(found.prefix(4).joined(separator: ", "))"
      )
    }
  }
}
