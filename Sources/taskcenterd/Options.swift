import TaskConfig
import TaskEngine

/// The engine's command line.
struct Options {
  var store: String?
  var config: String?
  var linger = false
  var logLevel = Log.Level.info
  var logsJSON = false
  var wantsHelp = false
  var wantsVersion = false

  struct Problem: Error { let message: String }

  static let usage = """
    usage: taskcenterd [--store DIR] [--config FILE] [--linger] [--log-level LEVEL] [--log-format text|json]

    The media-send engine: JSON-RPC 2.0 on stdin and stdout, logs on stderr.

      --store DIR         where tasks are kept (default: $XDG_STATE_HOME/taskcenter)
      --config FILE       settings (default: $XDG_CONFIG_HOME/taskcenter/config.json, if it is there)
      --linger            at the end of stdin, go on until nothing is left to run
      --log-level LEVEL   error, warning, info, debug or trace (default: info)
      --log-format FORMAT text or json
      --version, --help

    Exit status: 0 ended in order; 64 wrong usage; 65 the store is of a newer version; 70 internal error;
    73 the store can't be made; 75 another engine owns the store; 78 the config is broken.
    """

  private static let flags: Set<String> = ["--linger", "--help", "-h", "--version"]

  init(_ arguments: [String]) throws(Problem) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let name = parts.first ?? argument
      func value() throws(Problem) -> String {
        // An empty one is a shell variable that is not set: a store in the current folder is meant by nobody.
        guard let value = parts.count == 2 ? parts[1] : rest.popFirst(), !value.isEmpty else {
          throw Problem(message: "\(name) needs a value")
        }
        return value
      }
      if parts.count == 2, Options.flags.contains(name) { throw Problem(message: "\(name) takes no value") }
      switch name {
      case "--store": store = try value()
      case "--config": config = try value()
      case "--linger": linger = true
      case "--log-level":
        let word = try value()
        guard let level = Log.Level.allCases.first(where: { "\($0)" == word }) else {
          throw Problem(message: "unknown log level \"\(word)\"; known: error, warning, info, debug, trace")
        }
        logLevel = level
      case "--log-format":
        let word = try value()
        guard word == "text" || word == "json" else {
          throw Problem(message: "unknown log format \"\(word)\"; known: text, json")
        }
        logsJSON = word == "json"
      case "--help", "-h": wantsHelp = true
      case "--version": wantsVersion = true
      default: throw Problem(message: "unknown option \"\(argument)\"")
      }
    }
  }
}
