import TaskModel

/// `taskcenter completion`
enum Completion: Command {
  static let name = "completion"
  static let help = """
    usage: taskcenter completion bash|zsh|fish

    Prints completions for a shell:
      bash   source <(taskcenter completion bash)
      zsh    source <(taskcenter completion zsh)
      fish   taskcenter completion fish | source
    """

  static func run(_ words: [String]) throws -> Int32 {
    guard words.count == 1, let script = script(words[0]) else {
      throw Arguments.Problem(message: "completions for which shell? bash, zsh or fish")
    }
    Terminal.print(script)
    return Exit.ok
  }

  /// The options that a help text speaks of, and those that all take: what is offered can't differ from what is explained.
  static func options(_ help: String) -> [String] {
    var found: Set<String> = ["--help"]
    for word in help.split(whereSeparator: { !($0.isLetter || $0 == "-") }) where word.hasPrefix("--") && word.count > 2
    {
      found.insert(String(word))
    }
    return found.sorted()
  }

  private static func options(_ command: any Command.Type) -> [String] {
    let everywhere = [Completion.name, Serve.name].contains(command.name) ? [] : Common.options.union(Common.flags)
    return Set(options(command.help)).union(everywhere).sorted()
  }

  /// What may come after an option; those that are not here take no value.
  enum Value {
    case file, text
    case oneOf([String])
  }

  static let values: [(option: String, value: Value)] = [
    ("--store", .file), ("--config", .file), ("--cover", .file),
    ("--state", .oneOf(TaskState.allCases.map(\.rawValue))), ("--kind", .oneOf(kinds)),
    ("--priority", .oneOf(Urgency.allCases.map(\.rawValue))), ("--role", .oneOf(SourceURL.roles.map(\.rawValue))),
    ("--log-level", .oneOf(["error", "warning", "info", "debug", "trace"])),
    ("--log-format", .oneOf(["text", "json"])),
    ("--text", .text), ("--to", .text), ("--account", .text), ("--destination", .text), ("--key", .text),
    ("--lane", .text), ("--limit", .text), ("--after", .text),
  ]

  /// What may come after a subcommand.
  struct Operands {
    /// Directly after it.
    var words: [String] = []
    /// Everywhere; where there are words, too, `isFirst` says whether in the first place as well.
    var files = false
    var isFirst = false
  }

  static func operands(_ command: String) -> Operands {
    switch command {
    case Send.name: Operands(words: kinds, files: true)
    case Plan.name: Operands(words: kinds, files: true, isFirst: true)
    case Completion.name: Operands(words: ["bash", "zsh", "fish"])
    case "help": Operands(words: names)
    case Show.name, Watch.name, Cancel.name, Retry.name, Delete.name, Pause.name, Resume.name, Update.name:
      Operands(words: ["last"])
    default: Operands()
    }
  }

  private static let kinds = SendOrder.kinds.map(\.word)
  private static var names: [String] { CommandLineTool.commands.map { $0.name } + ["help"] }

  /// Nil for a shell that is not known.
  static func script(_ shell: String) -> String? {
    switch shell {
    case "bash": bash
    case "zsh": zsh
    case "fish": fish
    default: nil
    }
  }

  /// `case` branches that bash and zsh share. They set `words`, `files` and `options`.
  private static var branches: (commands: String, values: String) {
    let commands = (CommandLineTool.commands.map { ($0.name, options($0)) } + [("help", [])]).map { name, options in
      let operands = operands(name)
      let words = operands.words.joined(separator: " ")
      let files = operands.files ? (operands.isFirst ? "all" : "later") : ""
      return "\(name)) options=\"\(options.joined(separator: " "))\" words=\"\(words)\" files=\(files) ;;"
    }
    let values = values.map { option, value in
      switch value {
      case .file: "\(option)) words= files=all ;;"
      case .text: "\(option)) words= files= ;;"
      case .oneOf(let words): "\(option)) words=\"\(words.joined(separator: " "))\" files= ;;"
      }
    }
    return (commands.joined(separator: "\n    "), values.joined(separator: "\n    "))
  }

  private static var bash: String {
    """
    _taskcenter() {
      local word=${COMP_WORDS[COMP_CWORD]} place=$COMP_CWORD options= words= files= IFS=$' \\t\\n'
      COMPREPLY=()
      case ${COMP_WORDS[1]} in
        \(branches.commands)
      esac
      if [ $place -eq 1 ]; then words="\(names.joined(separator: " "))" files=
      elif [[ $word = -* ]]; then words=$options files=
      elif [ $place -gt 2 ]; then words= files=${files:+all}; fi
      case ${COMP_WORDS[COMP_CWORD-1]} in
        \(branches.values)
      esac
      [ -z "$words" ] || COMPREPLY=($(compgen -W "$words" -- "$word"))
      if [ "$files" = all ]; then local IFS=$'\\n'; COMPREPLY+=($(compgen -f -- "$word")); fi
    }
    complete -o filenames -F _taskcenter taskcenter
    """
  }

  private static var zsh: String {
    """
    #compdef taskcenter
    _taskcenter() {
      local word=$words[CURRENT] before=$words[CURRENT-1] command=$words[2] place=$CURRENT
      local options= words= files=
      case $command in
        \(branches.commands)
      esac
      if (( place == 2 )); then words="\(names.joined(separator: " "))" files=
      elif [[ $word = -* ]]; then words=$options files=
      elif (( place > 3 )); then words= files=${files:+all}; fi
      case $before in
        \(branches.values)
      esac
      [[ -z $words ]] || compadd -- ${=words}
      [[ $files != all ]] || _files
    }
    if [[ $funcstack[1] = _taskcenter ]]; then _taskcenter "$@"; else compdef _taskcenter taskcenter; fi
    """
  }

  private static var fish: String {
    var lines = [
      "complete -c taskcenter -f",
      "complete -c taskcenter -n __fish_use_subcommand -a \"\(names.joined(separator: " "))\"",
    ]
    for command in names {
      let operands = operands(command)
      let seen = "__fish_seen_subcommand_from \(command)"
      if !operands.words.isEmpty {
        let words = operands.words.joined(separator: " ")
        lines.append("complete -c taskcenter -n \"\(seen); and test (count (commandline -opc)) -eq 2\" -a \"\(words)\"")
      }
      if operands.files {
        let place = operands.isFirst ? "" : "; and test (count (commandline -opc)) -gt 2"
        lines.append("complete -c taskcenter -n \"\(seen)\(place)\" -F")
      }
    }
    for command in CommandLineTool.commands {
      for option in options(command) {
        let value = values.first { $0.option == option }?.value
        let takes =
          switch value {
          case .file?: " -r -F"
          case .text?: " -x"
          case .oneOf(let words)?: " -x -a \"\(words.joined(separator: " "))\""
          case nil: ""
          }
        lines.append(
          "complete -c taskcenter -n \"__fish_seen_subcommand_from \(command.name)\" -l \(option.dropFirst(2))\(takes)")
      }
    }
    return lines.joined(separator: "\n")
  }
}
