import JSON
import TaskModel
import TaskProtocol

/// `taskcenter show`
enum Show: Command {
  static let name = "show"
  static let help = """
    usage: taskcenter show ID… [--json]

    Tasks with their resources, receipts, failures and history; with --json one object {"task", "history"} a line.
    """

  static func run(_ words: [String]) throws -> Int32 {
    let common = try Common(words)
    _ = try common.words()
    let connection = try common.engine.connect()
    for id in try common.ids(connection) {
      let task = try connection.call(GetTask(id: id))["task"] ?? .null
      let history = try connection.call(TaskHistory(id: id))["entries"] ?? .array([])
      Terminal.print(common.wantsJSON ? JSONWriter.text(["task": task, "history": history]) : text(task, history))
    }
    return Exit.ok
  }

  /// - Parameter clock: how a time is written.
  static func text(_ task: JSONValue, _ history: JSONValue, clock: (Int64) -> String = Times.clock) -> String {
    var lines = [Describe.line(task)]
    func fact(_ label: String, _ value: String?) {
      if let value, !value.isEmpty { lines.append("  \(PlainText.pad(label, 12))\(PlainText.of(value))") }
    }
    for name in ["account", "lane", "destination", "key"] { fact(name, task[name]?.string) }
    fact("text", task["payload"]?["text"]?.string)
    fact("attempt", task["attempt"]?.int.map(String.init))
    fact("priority", task["priority"]?.string)
    fact("created", task["createdAt"]?.int.map(clock))
    fact("not before", task["notBefore"]?.int.map(clock))
    fact("next try", task["nextAttemptAt"]?.int.map(clock))
    fact("finished", task["finishedAt"]?.int.map(clock))
    fact("remote id", task["result"]?["remoteId"]?.string)
    fact("what to do", remedy(task))
    for resource in task["resources"]?.array ?? [] { lines += self.resource(resource) }
    let entries = history.array ?? []
    if !entries.isEmpty { lines.append("  history") }
    for entry in entries {
      let what = entry["resource"]?.int.map { "resource \($0)" } ?? "task"
      let failure = entry["failure"].map { ": " + Describe.text($0, "message") } ?? ""
      lines.append(
        "    \(clock(entry["at"]?.int ?? 0))  \(what)  \(Describe.text(entry, "from")) → "
          + Describe.text(entry, "to") + failure)
    }
    return lines.joined(separator: "\n")
  }

  /// For a task that has failed.
  private static func remedy(_ task: JSONValue) -> String? {
    guard task["state"]?.string == TaskState.failed.rawValue else { return nil }
    let again = "taskcenter retry \(task["id"]?.string ?? "ID")"
    switch task["failure"]?["remedy"]?.string.flatMap(Remedy.init) {
    case .needsUser: return "put right what is wrong, then \(again)"
    case .giveUp: return "it will fail again as it is; taskcenter delete \(task["id"]?.string ?? "ID")"
    default: return again
    }
  }

  private static func resource(_ resource: JSONValue) -> [String] {
    let name = Describe.text(resource, "name")
    var lines = [
      "  \(resource["index"]?.int ?? 0) \(Describe.text(resource, "role")) \(name): \(Describe.text(resource, "state"))"
    ]
    let source = resource["source"]
    let copy = source?["keep"]?.bool == true ? " (a private copy)" : ""
    for place in [source?["path"], source?["url"]].compactMap({ $0 }) + (source?["paths"]?.array ?? []) {
      lines.append("      from \(PlainText.of(place.string ?? ""))\(copy)")
    }
    if let export = resource["export"] {
      var facts = [Describe.text(export, "mime"), Describe.size(export["size"]?.int ?? 0)]
      if let width = export["width"]?.int, let height = export["height"]?.int { facts.append("\(width)×\(height)") }
      if let duration = export["durationMs"]?.int { facts.append(Times.span(duration)) }
      if export["rung"] != nil { facts.append("made by \(Describe.text(export, "rung"))") }
      lines.append("      " + facts.joined(separator: ", "))
    }
    if resource["url"] != nil { lines.append("      at \(Describe.text(resource, "url"))") }
    if let receipt = resource["receipt"] { lines.append("      md5 \(Describe.text(receipt, "md5"))") }
    if let failure = resource["failure"] {
      lines.append("      \(Describe.text(failure, "code")): \(Describe.text(failure, "message"))")
    }
    return lines
  }
}
