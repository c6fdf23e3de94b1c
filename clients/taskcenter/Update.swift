import JSON
import Platform
import TaskModel
import TaskProtocol

/// `taskcenter update`
enum Update: Command {
  static let name = "update"
  static let help = """
    usage: taskcenter update ID… [--text TEXT] [--priority PRIORITY] [--after TIME] [--json]

    Changes sends that wait, are paused, have failed (then: taskcenter retry) or are drafts.

      --text TEXT           another text; what else the payload holds stays
      --priority PRIORITY   interactive, normal or background
      --after TIME          not before: 90s, 10m, 2h or 1d from now, or "now"
    """

  static func run(_ words: [String]) throws -> Int32 {
    let options: Set<String> = ["--text", "--priority", "--after"]
    let arguments = try Common(words, options: options).arguments
    guard options.contains(where: { arguments.value($0) != nil }) else {
      throw Arguments.Problem(message: "update what? One of --text, --priority, --after")
    }
    let urgency = try arguments.value("--priority").map(priority)
    let notBefore = try arguments.value("--after").map { try time($0, now: SystemTime.wallMs()) }
    return try Change.run(words, options: options) { id, connection in
      var change = TaskChange(urgency: urgency, notBefore: notBefore)
      if let text = arguments.value("--text") {
        var payload = try connection.call(GetTask(id: id))["task"]?["payload"]?.object ?? JSONObject()
        payload["text"] = .string(text)
        change.payload = .object(payload)
      }
      return try connection.call(UpdateTask(id: id, change))["task"]
    }
  }

  private static func priority(_ word: String) throws -> Urgency {
    guard let urgency = Urgency(rawValue: word) else {
      let known = Urgency.allCases.map(\.rawValue).joined(separator: ", ")
      throw Arguments.Problem(message: "unknown priority \"\(word)\"; known: \(known)")
    }
    return urgency
  }

  /// - Returns: milliseconds since 1970; 0 for "now".
  static func time(_ word: String, now: Int64) throws -> Int64 {
    if word == "now" { return 0 }
    let units: [Character: Int64] = ["s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
    guard let unit = word.last.flatMap({ units[$0] }), let count = Int64(word.dropLast()), (0...36_500).contains(count)
    else { throw Arguments.Problem(message: "--after is a time like 90s, 10m, 2h or 1d, or \"now\"") }
    return now + count * unit
  }
}
