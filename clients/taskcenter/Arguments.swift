/// A command line, taken apart: options by name, the rest in order. Knows nothing of what the options mean.
struct Arguments {
  /// A mistake of the person's, with exit status 64 (EX_USAGE of sysexits.h).
  struct Problem: Error, Equatable {
    let message: String
  }

  private(set) var values: [String: [String]] = [:]
  private(set) var flags: Set<String> = []
  private(set) var rest: [String] = []

  /// Options may stand anywhere, as `--name value` or `--name=value`; after `--` nothing is an option.
  /// - Parameters:
  ///   - options: names that take a value.
  ///   - flags: names that take none.
  /// - Throws: `Problem` naming the option that is unknown, lacks its value, or has one that it does not take.
  init(_ words: [String], options: Set<String>, flags known: Set<String>) throws(Problem) {
    var words = words[...]
    while let word = words.popFirst() {
      if word == "--" {
        rest += words
        return
      }
      guard word.hasPrefix("-"), word != "-" else {
        rest.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let name = parts[0]
      if known.contains(name) {
        guard parts.count == 1 else { throw Problem(message: "\(name) takes no value") }
        flags.insert(name)
      } else if options.contains(name) {
        guard let value = parts.count == 2 ? parts[1] : words.popFirst() else {
          throw Problem(message: "\(name) needs a value")
        }
        values[name, default: []].append(value)
      } else {
        let hint =
          Nearest.to(name, among: options.union(known)).map { "did you mean \($0)?" }
          ?? "a file of that name goes after \"--\""
        throw Problem(message: "unknown option \"\(name)\"; \(hint)")
      }
    }
  }

  /// As if `word` had come first.
  func beginning(with word: String) -> Arguments {
    var copy = self
    copy.rest.insert(word, at: 0)
    return copy
  }

  /// Of an option that was given several times the last counts.
  func value(_ name: String) -> String? { values[name]?.last }
  func has(_ name: String) -> Bool { flags.contains(name) }
}

/// What somebody may have meant.
enum Nearest {
  /// - Returns: the one word that is closest, if it is at most two slips of the finger away.
  static func to(_ word: String, among known: some Sequence<String>) -> String? {
    known.map { (distance(word, $0), $0) }.filter { $0.0 <= 2 && $0.0 * 2 < $0.1.count }.min { $0 < $1 }?.1
  }

  /// Levenshtein's distance.
  private static func distance(_ left: String, _ right: String) -> Int {
    let right = Array(right)
    var row = Array(0...right.count)
    for (index, character) in left.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in right.indices {
        let replaced = diagonal + (right[column] == character ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(replaced, row[column] + 1, row[column + 1] + 1)
      }
    }
    return row[right.count]
  }
}
