import JSON
import TaskModel
import TaskProtocol

/// `taskcenter list`
enum List: Command {
  static let name = "list"
  static let help = """
    usage: taskcenter list [--state S,…] [--kind KIND] [--account NAME] [--lane LANE] [--limit N] [--json]

    The tasks, newest first. States: draft, queued, exporting, uploading, delivering, retrying, paused, sent, failed,
    canceled.
    """

  static func run(_ words: [String]) throws -> Int32 {
    let common = try Common(words, options: ["--state", "--kind", "--account", "--lane", "--limit"])
    var request = ListTasks()
    request.filter.states = try common.arguments.value("--state")?.split(separator: ",").map { try word(String($0)) }
    request.filter.kind = try common.arguments.value("--kind").map { try word($0) }
    request.filter.account = common.arguments.value("--account")
    request.filter.lane = common.arguments.value("--lane")
    let limit = common.arguments.value("--limit") ?? "50"
    guard let number = Int(limit), (1...1_000).contains(number) else {
      throw Arguments.Problem(message: "--limit is a number from 1 to 1000")
    }
    request.limit = number
    let tasks = try common.connect().call(request)["tasks"]?.array ?? []
    Terminal.print(common.wantsJSON ? JSONWriter.text(.array(tasks)) : table(tasks))
    return Exit.ok
  }

  static func table(_ tasks: [JSONValue]) -> String {
    guard !tasks.isEmpty else { return "no tasks" }
    return Describe.table(
      ["ID", "KIND", "LANE", "STATE", "DONE", "NOTE"],
      tasks.map { task in
        [
          task["id"]?.string ?? "", task["kind"]?.string ?? "", task["lane"]?.string ?? "",
          task["state"]?.string ?? "", Describe.percent(task), Describe.note(task),
        ]
      })
  }

  private static func word<T: RawRepresentable & CaseIterable>(_ text: String) throws -> T where T.RawValue == String {
    guard let value = T(rawValue: text) else {
      let known = T.allCases.map(\.rawValue).joined(separator: ", ")
      throw Arguments.Problem(message: "unknown word \"\(text)\"; known: \(known)")
    }
    return value
  }
}
