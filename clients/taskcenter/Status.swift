import JSON
import TaskProtocol

/// `taskcenter status`
enum Status: Command {
  static let name = "status"
  static let help = """
    usage: taskcenter status [--json]

    How the engine is: its store, slots, tasks by state, and what it wants people to know.
    """

  static func run(_ words: [String]) throws -> Int32 {
    let common = try Common(words)
    try common.takesNothingMore()
    let status = try common.engine.connect().call(EngineStatus())
    Terminal.print(common.wantsJSON ? JSONWriter.text(status) : text(status))
    return Exit.ok
  }

  static func text(_ status: JSONValue) -> String {
    func slots(_ name: String) -> String { "\(status[name]?["used"]?.int ?? 0) of \(status[name]?["limit"]?.int ?? 0)" }
    let tasks = (status["tasks"]?.object?.members ?? []).map { "\($0.value.int ?? 0) \($0.name)" }
    var lines = [
      "store    \(Describe.text(status, "store"))", "pid      \(status["pid"]?.int ?? 0)",
      "exports  \(slots("exports"))", "uploads  \(slots("uploads"))",
      "tasks    \(tasks.isEmpty ? "none" : tasks.joined(separator: ", "))",
    ]
    if status["online"]?.bool == false { lines.append("network  offline") }
    lines += (status["notices"]?.array ?? []).compactMap(\.string).map { "notice   \(PlainText.of($0))" }
    return lines.joined(separator: "\n")
  }
}
