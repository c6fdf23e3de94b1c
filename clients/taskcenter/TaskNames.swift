import JSON
import JSONRPC
import TaskProtocol

/// Short names of tasks: "last", or the beginning or the end of an id. The ids of one minute begin alike (they begin with
/// the time), so the end is what tells them apart, and what bars show.
enum TaskNames {
  static let fullLength = 36
  static let shortestLength = 4

  /// - Throws: `Arguments.Problem` for a word that can't stand for a task, whatever tasks there are.
  static func check(_ word: String) throws -> String {
    guard word == "last" || word.count >= shortestLength else {
      throw Arguments.Problem(
        message: "\"\(word)\" is too short for an ID; give at least \(shortestLength) characters, or \"last\"")
    }
    return word
  }

  /// A whole id is taken as it is; whether there is such a task, the engine says.
  /// - Throws: `Stop` where a word fits no task, or several; `RPCError`.
  static func resolve(_ word: String, _ connection: EngineConnection, sameEngine: String = "") throws -> String {
    if word.count == fullLength { return word }
    var list = ListTasks()
    list.fields = ["id"]
    list.limit = word == "last" ? 1 : 1_000
    var ids: [String] = []
    repeat {
      let answer = try connection.call(list)
      ids += (answer["tasks"]?.array ?? []).compactMap { $0["id"]?.string }
      list.cursor = answer["cursor"]?.string
    } while list.cursor != nil && word != "last"
    return try pick(word, among: ids, sameEngine: sameEngine)
  }

  /// - Parameters:
  ///   - ids: newest first.
  ///   - sameEngine: options that lead another command to the same engine.
  /// - Throws: `Stop`.
  static func pick(_ word: String, among ids: [String], sameEngine: String = "") throws(Stop) -> String {
    if word == "last" {
      guard let newest = ids.first else { throw Stop(status: Exit.usage, message: "there is no task yet") }
      return newest
    }
    let word = word.lowercased()
    let found = ids.filter { $0.hasPrefix(word) || $0.hasSuffix(word) }
    switch found.count {
    case 1: return found[0]
    case 0: throw Stop(status: Exit.usage, message: "there is no task \"\(word)\"; see: taskcenter list\(sameEngine)")
    default:
      let some = found.prefix(4).joined(separator: ", ") + (found.count > 4 ? ", …" : "")
      throw Stop(status: Exit.usage, message: "\"\(word)\" fits \(found.count) tasks: \(some)")
    }
  }
}
