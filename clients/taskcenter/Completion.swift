/// `taskcenter completion`
enum Completion: Command {
  static let name = "completion"
  static let help = """
    usage: taskcenter completion bash|zsh|fish

    Prints completions. For bash: source <(taskcenter completion bash)
    """

  static func run(_ words: [String]) throws -> Int32 {
    let names = (CommandLineTool.commands.map { $0.name } + ["help"]).joined(separator: " ")
    let kinds = "feed chat message avatar log"
    switch words.first {
    case "bash":
      Terminal.print(
        """
        _taskcenter() {
          local word=${COMP_WORDS[COMP_CWORD]}
          if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "\(names)" -- "$word"))
          elif [ "$COMP_CWORD" -eq 2 ] && [ "${COMP_WORDS[1]}" = send ]; then COMPREPLY=($(compgen -W "\(kinds)" -- "$word"))
          else COMPREPLY=($(compgen -f -- "$word")); fi
        }
        complete -o filenames -F _taskcenter taskcenter
        """)
    case "zsh":
      Terminal.print(
        """
        #compdef taskcenter
        _taskcenter() {
          if (( CURRENT == 2 )); then compadd \(names)
          elif (( CURRENT == 3 )) && [[ $words[2] = send ]]; then compadd \(kinds)
          else _files; fi
        }
        compdef _taskcenter taskcenter
        """)
    case "fish":
      Terminal.print(
        """
        complete -c taskcenter -n __fish_use_subcommand -f -a "\(names)"
        complete -c taskcenter -n "__fish_seen_subcommand_from send; and not __fish_seen_subcommand_from \(kinds)" -f -a "\(kinds)"
        """)
    default: throw Arguments.Problem(message: "completions for which shell? bash, zsh or fish")
    }
    return Exit.ok
  }
}
