import JSON
import Platform
import TaskModel
import TaskProtocol

/// `taskcenter list`
enum List: Command {
  static let name = "list"
  static let help = """
    usage: taskcenter list [--state S,…] [--kind KIND] [--account NAME] [--lane LANE] [--limit N] [--json]

    The tasks, newest first, at most 50 unless --limit says otherwise. On a terminal an ID is shortened to its end, which
    every command takes for the whole.
    States: draft, queued, exporting, uploading, delivering, retrying, paused, sent, failed, canceled.
    Kinds: feed, chat, message, avatar, log; also by the engine's names for them, as in the table.
    """

  static func run(_ words: [String]) throws -> Int32 {
    let common = try Common(words, options: ["--state", "--kind", "--account", "--lane", "--limit"])
    try common.takesNothingMore()
    let request = try request(common.arguments)
    let tasks = try common.engine.connect().call(request)["tasks"]?.array ?? []
    guard !common.wantsJSON else {
      Terminal.print(JSONWriter.text(.array(tasks)))
      return Exit.ok
    }
    let width = Terminal.isLively(1) ? Terminal.size(1).columns : nil
    Terminal.print(table(tasks, now: SystemTime.wallMs(), width: width, colour: Terminal.hasColour(1)))
    return Exit.ok
  }

  /// - Throws: `Arguments.Problem`.
  static func request(_ arguments: Arguments) throws -> ListTasks {
    var request = ListTasks()
    request.filter.states = try arguments.value("--state")?.split(separator: ",").map { try state(String($0)) }
    request.filter.kind = try arguments.value("--kind").map(kind)
    request.filter.account = arguments.value("--account")
    request.filter.lane = arguments.value("--lane")
    guard let limit = Int(arguments.value("--limit") ?? "50"), (1...1_000).contains(limit) else {
      throw Arguments.Problem(message: "--limit is a number from 1 to 1000")
    }
    request.limit = limit
    return request
  }

  static func table(_ tasks: [JSONValue], now: Int64, width: Int? = nil, colour: Bool = false) -> String {
    guard !tasks.isEmpty else { return "no tasks" }
    let header = ["ID", "KIND", "LANE", "STATE", "PROGRESS", "AGE", "NOTE"]
    let isShort = width != nil
    let rows = tasks.map { task in
      let (id, lane) = (Describe.text(task, "id"), Describe.text(task, "lane"))
      return [
        isShort ? String(id.suffix(8)) : id, Describe.text(task, "kind"),
        isShort ? PlainText.clip(lane, 16) : lane, Describe.text(task, "state"), Describe.percent(task),
        Times.span(now - (task["createdAt"]?.int ?? now)),
        Describe.note(task, now: now),
      ]
    }
    return Describe.table(header, rows, width: width) { column, cell in
      guard colour, header[column] == "STATE" else { return cell }
      return Describe.paint(cell, as: String(cell.prefix { $0 != " " }))
    }
  }

  private static func state(_ word: String) throws -> TaskState {
    guard let state = TaskState(rawValue: word) else {
      let known = TaskState.allCases.map(\.rawValue).joined(separator: ", ")
      throw Arguments.Problem(message: "unknown state \"\(word)\"; known: \(known)")
    }
    return state
  }

  private static func kind(_ word: String) throws -> TaskKind {
    if let kind = SendOrder.kinds.first(where: { $0.word == word })?.kind ?? TaskKind(rawValue: word) { return kind }
    let known = SendOrder.kinds.map(\.word).joined(separator: ", ")
    throw Arguments.Problem(message: "unknown kind \"\(word)\"; known: \(known)")
  }
}
