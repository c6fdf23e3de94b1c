import JSON
import TaskModel

/// Tasks as text; pure. Every text from elsewhere goes through `PlainText`.
enum Describe {
  static func text(_ value: JSONValue, _ name: String) -> String { PlainText.of(value[name]?.string ?? "") }

  /// Rounded down, so that 100 % is said of what is sent and of nothing else.
  static func percent(_ task: JSONValue) -> String { "\(Int(fraction(task) * 100))%" }

  private static func fraction(_ task: JSONValue) -> Double {
    let value = task["progress"]?.double ?? 0
    return value.isFinite ? min(1, max(0, value)) : 0
  }

  /// What a person wants to know besides the state.
  /// - Parameter now: milliseconds since 1970; absent: without saying when it goes on.
  static func note(_ task: JSONValue, now: Int64? = nil) -> String {
    var parts: [String] = []
    if let waiting = task["waitingFor"]?.string { parts.append("waits for \(reason(waiting))") }
    let next = task["nextAttemptAt"]?.int ?? (task["waitingFor"]?.string == "notBefore" ? task["notBefore"]?.int : nil)
    if let next, let now, next > now { parts.append("next try in \(Times.span(next - now))") }
    if let failure = task["failure"] { parts.append("\(text(failure, "code")): \(text(failure, "message"))") }
    return parts.joined(separator: "; ")
  }

  private static func reason(_ waiting: String) -> String {
    switch WaitReason(rawValue: waiting) {
    case .slot: "its turn"
    case .lane: "those before it in its lane"
    case .backoff: "the next try"
    case .host: "the server, which asked for a pause"
    case .network: "the network"
    case .frontEnd: "an app that delivers it"
    case .notBefore: "its time"
    case nil: PlainText.of(waiting)
    }
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
    guard text(task, "state") == TaskState.sent.rawValue else {
      let note = note(task)
      return "\(id) \(text(task, "state"))" + (note.isEmpty ? "" : ": \(note)")
    }
    let remote = task["result"]?["remoteId"]?.string.map { " as \(PlainText.of($0))" } ?? ""
    return "\(id) sent\(remote)"
  }

  /// `b4d3a971 feedPost  uploading  ████████░░░░  42%  note`, within `width` columns. The bar gets two fifths of what is left
  /// beside the words, the note the rest. On a narrow terminal the note goes first, then the bar, then the kind.
  static func bar(_ task: JSONValue, width: Int, colour: Bool = false, now: Int64? = nil) -> String {
    // The last column stays free: some terminals wrap as soon as it is filled.
    let width = max(1, width - 1)
    let kind = width < 35 ? "" : PlainText.pad(text(task, "kind"), 9) + " "
    let head = "\(text(task, "id").suffix(8)) \(kind)"
    let state = PlainText.pad(text(task, "state"), 10) + " "
    let percent = percent(task)
    let tail = " " + String(repeating: " ", count: max(0, 4 - percent.count)) + percent
    let free = width - head.count - state.count - tail.count
    let note = free < 12 ? "" : note(task, now: now)
    let room = free < 4 ? 0 : min(30, note.isEmpty ? free : max(4, free * 2 / 5))
    let full = Int(fraction(task) * Double(room))
    let bar = String(repeating: "█", count: full) + String(repeating: "░", count: room - full)
    let line = PlainText.clip(head + state + bar + tail + (note.isEmpty ? "" : "  " + note), width)
    guard colour, line.count > head.count + state.count else { return line }
    return head + paint(state, as: text(task, "state")) + line.dropFirst(head.count + state.count)
  }

  /// Green for sent, red for failed, yellow for what waits.
  static func paint(_ cell: String, as state: String) -> String {
    switch TaskState(rawValue: state) {
    case .sent: "\u{1B}[32m\(cell)\u{1B}[0m"
    case .failed: "\u{1B}[31m\(cell)\u{1B}[0m"
    case .retrying, .paused: "\u{1B}[33m\(cell)\u{1B}[0m"
    default: cell
    }
  }

  /// Columns as wide as their widest cell; the last one as it is.
  /// - Parameters:
  ///   - width: of the terminal, where there is one: lines are clipped to it, and none fills its last column.
  ///   - paint: takes a column and a padded cell.
  static func table(
    _ header: [String], _ rows: [[String]], width: Int? = nil, paint: (Int, String) -> String = { $1 }
  ) -> String {
    let all = [header] + rows
    let widths = header.indices.map { column in all.map { PlainText.columns($0[column]) }.max() ?? 0 }
    return all.enumerated().map { number, row in
      var rest = width.map { $0 - 1 } ?? .max
      var cells: [String] = []
      for (column, cell) in row.enumerated() where rest > 0 {
        let padded = PlainText.clip(column < row.count - 1 ? PlainText.pad(cell, widths[column]) : cell, rest)
        cells.append(number == 0 ? padded : paint(column, padded))
        rest -= PlainText.columns(padded) + 2
      }
      return cells.joined(separator: "  ").trimmingEnd
    }.joined(separator: "\n")
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
