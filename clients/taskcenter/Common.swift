/// What every subcommand takes.
struct Common {
  let arguments: Arguments
  let engine: EngineLaunch
  let wantsJSON: Bool

  static let options: Set<String> = ["--store", "--config"]
  static let flags: Set<String> = ["--json"]

  /// - Throws: `Arguments.Problem`.
  init(_ words: [String], options: Set<String> = [], flags: Set<String> = []) throws {
    let arguments = try Arguments(
      words, options: options.union(Common.options), flags: flags.union(Common.flags))
    // An empty one is a shell variable that is not set; taken as it is, it would mean the current folder, or nothing.
    let named = options.union(Common.options).subtracting(["--text"]).sorted()
    if let empty = named.first(where: { arguments.value($0) == "" }) {
      throw Arguments.Problem(message: "\(empty) must not be empty")
    }
    self.arguments = arguments
    engine = EngineLaunch(store: arguments.value("--store"), config: arguments.value("--config"))
    wantsJSON = arguments.has("--json")
  }

  /// For subcommands that only have options.
  /// - Throws: `Arguments.Problem` naming the first word that nobody takes.
  func takesNothingMore() throws {
    guard let word = arguments.rest.first else { return }
    throw Arguments.Problem(message: "\"\(word)\" is one word too many")
  }

  /// The full ids that the words stand for.
  /// - Throws: `Arguments.Problem` where there is none; `Stop` where a word fits no task, or several.
  func ids(_ connection: EngineConnection) throws -> [String] {
    var ids: [String] = []
    for word in try words() { ids.append(try TaskNames.resolve(word, connection, sameEngine: sameEngine)) }
    return ids
  }

  /// The same, before an engine is asked.
  func words() throws -> [String] {
    guard !arguments.rest.isEmpty else { throw Arguments.Problem(message: "which task? Give an ID, or \"last\"") }
    return try arguments.rest.map(TaskNames.check)
  }

  /// The options that lead another command to the same engine, with a space before them.
  var sameEngine: String {
    [("--store", engine.store), ("--config", engine.config)].map { name, value in
      value.map { " \(name) \(Common.quoted($0))" } ?? ""
    }.joined()
  }

  /// For a POSIX shell.
  static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "-_./:@%+,=".utf8.contains(byte)
      }
    }
    return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: #"'\''"#) + "'"
  }
}
