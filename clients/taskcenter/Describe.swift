import JSON
import TaskModel

/// Tasks as text; pure.
enum Describe {
  private static func text(_ task: JSONValue, _ name: String) -> String { task[name]?.string ?? "" }

  static func percent(_ task: JSONValue) -> String { "\(Int((task["progress"]?.double ?? 0) * 100))%" }

  /// What a person wants to know besides the state.
  static func note(_ task: JSONValue) -> String {
    if let failure = task["failure"] { return text(failure, "code") + ": " + text(failure, "message") }
    if let waiting = task["waitingFor"]?.string { return "waits for \(waiting)" }
    return ""
  }

  /// One change, for a log.
  static func line(_ task: JSONValue) -> String {
    let note = note(task)
    return "\(text(task, "id")) \(text(task, "kind")) \(text(task, "state")) \(percent(task))"
      + (note.isEmpty ? "" : " (\(note))")
  }

  /// The last word on a task.
  static func outcome(_ task: JSONValue) -> String {
    let id = text(task, "id")
    guard text(task, "state") == TaskState.sent.rawValue else { return "\(id) \(text(task, "state")): \(note(task))" }
    let remote = task["result"]?["remoteId"]?.string.map { " as \($0)" } ?? ""
    return "\(id) sent\(remote)"
  }

  /// `01a22b13 feedPost  uploading ████████░░░░  42%`, within `width` columns.
  static func bar(_ task: JSONValue, width: Int) -> String {
    let id = String(text(task, "id").suffix(8))
    let head = "\(id) \(pad(text(task, "kind"), 9)) \(pad(text(task, "state"), 10)) "
    let tail = " " + String(repeating: " ", count: 4 - percent(task).count) + percent(task)
    let room = max(5, min(30, width - head.count - tail.count - 1))
    let full = Int((task["progress"]?.double ?? 0) * Double(room))
    let bar = String(repeating: "█", count: full) + String(repeating: "░", count: room - full)
    let note = note(task)
    let line = head + bar + tail + (note.isEmpty ? "" : "  " + note)
    return String(line.prefix(max(20, width - 1)))
  }

  /// Columns as wide as their widest cell; the last one as it is.
  static func table(_ header: [String], _ rows: [[String]]) -> String {
    let all = [header] + rows
    let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    return all.map { row in
      row.enumerated().map { $0 == row.count - 1 ? $1 : pad($1, widths[$0]) }.joined(separator: "  ").trimmingEnd
    }.joined(separator: "\n")
  }

  static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  static func size(_ bytes: Int64) -> String {
    switch bytes {
    case ..<1_000: "\(bytes) B"
    case ..<1_000_000: "\(bytes / 1_000) kB"
    default: "\(bytes / 1_000_000).\(bytes % 1_000_000 / 100_000) MB"
    }
  }
}

extension String {
  fileprivate var trimmingEnd: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
