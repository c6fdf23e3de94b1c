import JSON
import Testing

@testable import taskcenter

private let id = "01a22b39-ecad-7e8d-9afe-b3401debd084"

private func task(_ more: (String, JSONValue)...) -> JSONValue {
  var object = JSONObject([
    ("id", .string(id)), ("kind", "feedPost"), ("lane", "feed"), ("state", "uploading"), ("progress", .double(0.429)),
    ("createdAt", 1_000),
  ])
  for (name, value) in more { object[name] = value }
  return .object(object)
}

@Suite("Tasks as text")
struct DescribeTests {
  @Test("a bar shows the end of the id, the state, and how far it is")
  func bar() {
    #expect(Describe.bar(task(), width: 50) == "1debd084 feedPost  uploading  ██████░░░░░░░░  42%")
    #expect(Describe.bar(task(), width: 40) == "1debd084 feedPost  uploading  █░░░  42%")
    #expect(Describe.bar(task(), width: 38) == "1debd084 feedPost  uploading    42%")
    let narrow = Describe.bar(task(("waitingFor", "network")), width: 40)
    #expect(narrow == "1debd084 feedPost  uploading  █░░░  42%")
    #expect(Describe.bar(task(), width: 30) == "1debd084 uploading  █░░░  42%")
    let waiting = Describe.bar(task(("waitingFor", "network")), width: 80)
    #expect(waiting == "1debd084 feedPost  uploading  ███████░░░░░░░░░░  42%  waits for the network")
    let whole = String(repeating: "█", count: 30) + " 100%"
    #expect(Describe.bar(task(("progress", 1)), width: 200).hasSuffix(whole))
  }

  @Test(
    "100 % is said of what is there and of nothing less",
    arguments: [(0.999_9, "99%"), (1, "100%"), (7, "100%"), (-1, "0%")])
  func percent(_ progress: Double, _ text: String) {
    #expect(Describe.percent(task(("progress", .double(progress)))) == text)
  }

  @Test("a bar never fills the last column of a terminal, however narrow", arguments: [1, 5, 20, 40, 79, 200])
  func width(_ width: Int) {
    let failure: JSONValue = ["code": "refused", "message": "群组已解散，无法发送这条消息，请联系管理员或者稍后再试一次"]
    #expect(PlainText.columns(Describe.bar(task(("failure", failure)), width: width)) <= max(1, width - 1))
  }

  @Test("colours surround the state and change no column")
  func colour() {
    let plain = Describe.bar(task(("state", "failed")), width: 80)
    let painted = Describe.bar(task(("state", "failed")), width: 80, colour: true)
    #expect(painted != plain)
    #expect(painted.replacing("\u{1B}[31m", with: "").replacing("\u{1B}[0m", with: "") == plain)
    #expect(Describe.bar(task(), width: 80, colour: true) == Describe.bar(task(), width: 80))
  }

  @Test("a note says what is waited for, how long, and why")
  func note() {
    let waiting = task(
      ("state", "retrying"), ("waitingFor", "network"), ("nextAttemptAt", 75_000),
      ("failure", ["code": "unreachable", "message": "no route"]))
    #expect(Describe.note(waiting, now: 60_000) == "waits for the network; next try in 15s; unreachable: no route")
    #expect(Describe.note(waiting, now: 80_000) == "waits for the network; unreachable: no route")
    #expect(Describe.note(task()) == "")
  }

  @Test("the last word names the remote id, or the reason")
  func outcome() {
    #expect(Describe.outcome(task(("state", "sent"), ("result", ["remoteId": "p7"]))) == "\(id) sent as p7")
    #expect(Describe.outcome(task(("state", "canceled"))) == "\(id) canceled")
    let failure: JSONValue = ["code": "blocked", "message": "you are blocked"]
    let failed = task(("state", "failed"), ("failure", failure))
    #expect(Describe.outcome(failed) == "\(id) failed: blocked: you are blocked")
  }

  @Test("a table's columns line up, also with wide characters, and its lines end without spaces")
  func table() {
    let text = List.table([task(("lane", "家族")), task(("waitingFor", "slot"))], now: 91_000)
    #expect(
      text == """
        ID                                    KIND      LANE  STATE      PROGRESS  AGE  NOTE
        \(id)  feedPost  家族  uploading  42%       1m
        \(id)  feedPost  feed  uploading  42%       1m   waits for its turn
        """)
    #expect(List.table([], now: 0) == "no tasks")
  }

  @Test("on a terminal a table's lines have short ids and never fill the last column", arguments: [10, 40, 80])
  func narrowTable(_ width: Int) {
    let lane: JSONValue = "家族的很长很长很长很长的名字"
    let lines = List.table([task(("lane", lane), ("waitingFor", "slot"))], now: 91_000, width: width)
      .split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines[1].hasPrefix("1debd084"))
    for line in lines { #expect(PlainText.columns(String(line)) < width) }
  }

  @Test("a terminal without Unicode gets signs that it knows, and names as they are")
  func ascii() {
    #expect(PlainText.ascii("██░ 42% … → é 家") == "##. 42% ~ -> é 家")
  }

  @Test("text from elsewhere can't steer the terminal")
  func steering() {
    let failure: JSONValue = ["code": "refused", "message": "\u{1B}]0;owned\u{07}no\nway\u{202E}gpj"]
    #expect(
      Describe.note(task(("failure", failure))) == "refused: \u{FFFD}]0;owned\u{FFFD}no way\u{FFFD}gpj")
  }

  @Test(
    "a span of time has one unit",
    arguments: [(-5, "0.0s"), (940, "0.9s"), (59_999, "59s"), (60_000, "1m"), (7_200_000, "2h"), (172_800_000, "2d")]
      as [(Int64, String)])
  func spans(_ milliseconds: Int64, _ text: String) { #expect(Times.span(milliseconds) == text) }

  @Test("show tells of resources, receipts, failures, history, and what to do")
  func show() {
    let resource: JSONValue = [
      "index": 0, "role": "image", "name": "a.jpg", "state": "uploaded", "source": ["path": "/tmp/a.jpg"],
      "export": ["mime": "image/jpeg", "size": 1_234_567, "width": 100, "height": 50, "rung": "jpeg"],
      "url": "https://cdn.example/a", "receipt": ["md5": "00ff"],
    ]
    let failed = task(
      ("state", "failed"), ("account", "me"), ("resources", [resource]),
      ("failure", ["code": "blocked", "message": "you are blocked", "remedy": "needsUser"]))
    let entry: JSONValue = ["at": 5, "from": "delivering", "to": "failed", "failure": ["message": "you are blocked"]]
    #expect(
      Show.text(failed, [entry], clock: { "t\($0)" }) == """
        \(id) feedPost failed 42% (blocked: you are blocked)
          account     me
          lane        feed
          created     t1000
          what to do  put right what is wrong, then taskcenter retry \(id)
          0 image a.jpg: uploaded
              from /tmp/a.jpg
              image/jpeg, 1.2 MB, 100×50, made by jpeg
              at https://cdn.example/a
              md5 00ff
          history
            t5  task  delivering → failed: you are blocked
        """)
  }
}

@Suite("Help and completions")
struct HelpTests {
  @Test("every subcommand's help begins with its usage and fits a page")
  func usage() {
    for command in CommandLineTool.commands {
      #expect(command.help.hasPrefix("usage: taskcenter \(command.name) "))
      for line in command.help.split(separator: "\n") { #expect(line.count <= 120) }
      #expect(CommandLineTool.help.contains("\(command.name) "))
    }
  }

  @Test("completions offer the options that the help explains, for every subcommand")
  func completions() throws {
    let options = [
      "--account", "--cover", "--destination", "--help", "--json", "--keep", "--key", "--poster", "--role", "--text",
      "--thumbnail", "--to", "--wait",
    ]
    #expect(Completion.options(Send.help) == options)
    for shell in ["bash", "zsh", "fish"] {
      let script = try #require(Completion.script(shell))
      for command in CommandLineTool.commands { #expect(script.contains(command.name)) }
      #expect(script.contains("destination") && script.contains("delivering"))
    }
    #expect(Completion.script("tcsh") == nil)
  }

  @Test("every value that an option takes is of the kind that completions say")
  func optionValues() {
    let explained = CommandLineTool.commands.flatMap { Completion.options($0.help) }
    for (option, _) in Completion.values { #expect(explained.contains(option) || Common.options.contains(option)) }
  }

  @Test("the first page stays as people know it")
  func firstPage() {
    #expect(
      CommandLineTool.help == """
        usage: taskcenter COMMAND [ARGUMENTS]

          send feed|chat|message|avatar|log FILE…   send media; returns at once, the engine goes on
          plan FILE…                                what a send would make of files
          list                                      the tasks, newest first
          show ID…                                  a task with its receipts and its history
          watch [ID…]                               live progress
          cancel ID…   retry ID…   delete ID…       take back, try again, forget
          pause ID…    resume ID…   update ID…      hold, let go on, change text, priority or time
          logout ACCOUNT                            cancel and forget everything of one account
          status                                    how the engine is
          serve …                                   the engine itself on stdin and stdout (taskcenterd)
          completion bash|zsh|fish                  completions for a shell
          help [COMMAND]   --version

        Everywhere: --store DIR, --config FILE, --json, --help. An ID may be shortened to its beginning or its end, at least 4
        characters; "last" is the newest task.

        Exit status: 0 all well; 1 a task failed or was canceled; 64 wrong usage; 65 the store is of a newer version; 66 a file
        can't be sent; 69 no engine; 70 a bug, or the engine crashed; 73 the store can't be used; 74 the output can't be
        written; 75 try again; 78 the config is broken; 130 Ctrl-C.
        """)
  }
}
