import JSON
import Platform
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
    let status = try common.connect().call(EngineStatus())
    Terminal.print(common.wantsJSON ? JSONWriter.text(status) : text(status))
    return Exit.ok
  }

  static func text(_ status: JSONValue) -> String {
    func slots(_ name: String) -> String { "\(status[name]?["used"]?.int ?? 0) of \(status[name]?["limit"]?.int ?? 0)" }
    let tasks = (status["tasks"]?.object?.members ?? []).map { "\($0.value.int ?? 0) \($0.name)" }
    var lines = [
      "store    \(status["store"]?.string ?? "")", "pid      \(status["pid"]?.int ?? 0)",
      "exports  \(slots("exports"))", "uploads  \(slots("uploads"))",
      "tasks    \(tasks.isEmpty ? "none" : tasks.joined(separator: ", "))",
    ]
    if status["online"]?.bool == false { lines.append("network  offline") }
    lines += (status["notices"]?.array ?? []).compactMap(\.string).map { "notice   \($0)" }
    return lines.joined(separator: "\n")
  }
}

/// `taskcenter serve`: becomes the engine.
enum Serve: Command {
  static let name = "serve"
  static let help = """
    usage: taskcenter serve [--store DIR] [--config FILE] [--linger] …

    The engine itself: JSON-RPC 2.0 on stdin and stdout. The same as taskcenterd.
    """

  static func run(_ words: [String]) throws -> Int32 {
    let error = Exec.replace(Paths.engineProgram, ["taskcenterd"] + words)
    throw Stop(status: Exit.unavailable, message: "\(Paths.engineProgram) can't be started: \(error.reason)")
  }
}
