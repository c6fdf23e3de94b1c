import JSON
import TaskProtocol

/// `taskcenter show`
enum Show: Command {
  static let name = "show"
  static let help = """
    usage: taskcenter show ID [--json]

    One task with its resources, receipts and history.
    """

  static func run(_ words: [String]) throws -> Int32 {
    let common = try Common(words)
    let connection = try common.connect()
    for id in try common.ids(connection) {
      let task = try connection.call(GetTask(id: id))["task"] ?? .null
      let history = try connection.call(TaskHistory(id: id))["entries"] ?? .array([])
      Terminal.print(common.wantsJSON ? JSONWriter.text(["task": task, "history": history]) : text(task, history))
    }
    return Exit.ok
  }

  static func text(_ task: JSONValue, _ history: JSONValue) -> String {
    var lines = [Describe.line(task)]
    for name in ["account", "lane", "destination", "key"] {
      if let value = task[name]?.string { lines.append("  \(Describe.pad(name, 12))\(value)") }
    }
    if let remote = task["result"]?["remoteId"]?.string { lines.append("  \(Describe.pad("remote id", 12))\(remote)") }
    for resource in task["resources"]?.array ?? [] { lines += self.resource(resource) }
    lines.append("  history")
    let start = history.array?.first?["at"]?.int ?? 0
    for entry in history.array ?? [] {
      let what = entry["resource"]?.int.map { "resource \($0)" } ?? "task"
      let failure = entry["failure"]?["message"]?.string.map { ": \($0)" } ?? ""
      let after = (entry["at"]?.int ?? start) - start
      lines.append("    +\(after) ms  \(what)  \(entry["from"]?.string ?? "") → \(entry["to"]?.string ?? "")\(failure)")
    }
    return lines.joined(separator: "\n")
  }

  private static func resource(_ resource: JSONValue) -> [String] {
    var lines = [
      "  \(resource["index"]?.int ?? 0) \(resource["role"]?.string ?? "") \(resource["name"]?.string ?? ""): "
        + (resource["state"]?.string ?? "")
    ]
    if let export = resource["export"] {
      var facts = [export["mime"]?.string ?? "", Describe.size(export["size"]?.int ?? 0)]
      if let width = export["width"]?.int, let height = export["height"]?.int { facts.append("\(width)×\(height)") }
      if let rung = export["rung"]?.string { facts.append("made by \(rung)") }
      lines.append("      " + facts.joined(separator: ", "))
    }
    if let url = resource["url"]?.string { lines.append("      \(url)") }
    if let receipt = resource["receipt"] { lines.append("      md5 \(receipt["md5"]?.string ?? "")") }
    if let failure = resource["failure"] {
      lines.append("      \(failure["code"]?.string ?? ""): \(failure["message"]?.string ?? "")")
    }
    return lines
  }
}
