/// A command line, taken apart: options by name, the rest in order. Knows nothing of what the options mean.
struct Arguments {
  /// A mistake of the person's, with exit status 64 (EX_USAGE of sysexits.h).
  struct Problem: Error, Equatable {
    let message: String
  }

  private(set) var values: [String: [String]] = [:]
  private(set) var flags: Set<String> = []
  private(set) var rest: [String] = []

  /// - Parameters:
  ///   - options: names that take a value.
  ///   - flags: names that take none.
  /// - Throws: `Problem` naming the option that is unknown, or lacks its value.
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
      if known.contains(word) {
        flags.insert(word)
      } else if options.contains(parts[0]) {
        guard let value = parts.count == 2 ? parts[1] : words.popFirst() else {
          throw Problem(message: "\(parts[0]) needs a value")
        }
        values[parts[0], default: []].append(value)
      } else {
        throw Problem(message: "unknown option \"\(parts[0])\"; a file of that name goes after \"--\"")
      }
    }
  }

  func value(_ name: String) -> String? { values[name]?.last }
  func has(_ name: String) -> Bool { flags.contains(name) }
}
