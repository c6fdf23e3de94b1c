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

  private static func options(_ command: any Command.Type) -> String {
    let everywhere = command.name == name ? [] : Common.options.union(Common.flags)
    return Set(options(command.help)).union(command.name == Serve.name ? [] : everywhere).sorted()
      .joined(separator: " ")
  }

  /// Nil for a shell that is not known.
  static func script(_ shell: String) -> String? {
    let commands = CommandLineTool.commands
    let names = (commands.map { $0.name } + ["help"]).joined(separator: " ")
    let kinds = SendOrder.kinds.map(\.word).joined(separator: " ")
    let cases = commands.map { "\($0.name)) options=\"\(options($0))\" ;;" }.joined(separator: "\n    ")
    switch shell {
    case "bash":
      return """
        _taskcenter() {
          local word=${COMP_WORDS[COMP_CWORD]} options=
          case ${COMP_WORDS[1]} in
            \(cases)
          esac
          if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "\(names)" -- "$word"))
          elif [ "$COMP_CWORD" -eq 2 ] && [ "${COMP_WORDS[1]}" = send ]; then COMPREPLY=($(compgen -W "\(kinds)" -- "$word"))
          elif [ "$COMP_CWORD" -eq 2 ] && [ "${COMP_WORDS[1]}" = plan ] && [[ $word != -* ]]; then
            COMPREPLY=($(compgen -W "\(kinds)" -- "$word"))
            local IFS=$'\\n'; COMPREPLY+=($(compgen -f -- "$word"))
          elif [[ $word = -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$word"))
          else local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$word")); fi
        }
        complete -o filenames -F _taskcenter taskcenter
        """
    case "zsh":
      return """
        #compdef taskcenter
        _taskcenter() {
          local options=
          case $words[2] in
            \(cases)
          esac
          if (( CURRENT == 2 )); then compadd \(names)
          elif (( CURRENT == 3 )) && [[ $words[2] = send ]]; then compadd \(kinds)
          elif (( CURRENT == 3 )) && [[ $words[2] = plan && $words[3] != -* ]]; then compadd \(kinds); _files
          elif [[ $words[CURRENT] = -* ]]; then compadd -- ${=options}
          else _files; fi
        }
        compdef _taskcenter taskcenter
        """
    case "fish":
      let lines = commands.map { command in
        "complete -c taskcenter -n \"__fish_seen_subcommand_from \(command.name)\" -a \"\(options(command))\""
      }
      return """
        complete -c taskcenter -n __fish_use_subcommand -f -a "\(names)"
        complete -c taskcenter -n "__fish_seen_subcommand_from send; and not __fish_seen_subcommand_from \(kinds)" -f -a "\(kinds)"
        complete -c taskcenter -n "__fish_seen_subcommand_from plan; and not __fish_seen_subcommand_from \(kinds)" -a "\(kinds)"
        """ + "\n" + lines.joined(separator: "\n")
    default: return nil
    }
  }
}
