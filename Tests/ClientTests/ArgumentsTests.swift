import Testing

@testable import taskcenter

@Suite("The command line")
struct ArgumentsTests {
  private func arguments(_ words: [String]) throws -> Arguments {
    try Arguments(words, options: ["--text", "--to"], flags: ["--wait", "--json"])
  }

  @Test("options stand anywhere, with a space or an equals sign, and the last of several counts")
  func options() throws {
    let parsed = try arguments(["--text=a=b", "feed", "--wait", "x.jpg", "--to", "bob", "--to", "alice"])
    #expect(parsed.value("--text") == "a=b")
    #expect(parsed.value("--to") == "alice")
    #expect(parsed.has("--wait") && !parsed.has("--json"))
    #expect(parsed.rest == ["feed", "x.jpg"])
  }

  @Test("after -- nothing is an option, and a lone dash is a file")
  func end() throws {
    let parsed = try arguments(["-", "--", "--wait", "--", "-x.jpg"])
    #expect(parsed.rest == ["-", "--wait", "--", "-x.jpg"])
    #expect(parsed.flags.isEmpty)
  }

  @Test(
    "a mistake is named, with what may have been meant",
    arguments: [
      (["--wiat"], "unknown option \"--wiat\"; did you mean --wait?"),
      (["--colour=red"], "unknown option \"--colour\"; a file of that name goes after \"--\""),
      (["-x.jpg"], "unknown option \"-x.jpg\"; a file of that name goes after \"--\""),
      (["--text"], "--text needs a value"), (["--wait=yes"], "--wait takes no value"),
    ])
  func mistakes(_ words: [String], _ message: String) {
    #expect(throws: Arguments.Problem(message: message)) { try arguments(words) }
  }

  @Test("a value may be empty and may look like an option")
  func values() throws {
    let parsed = try arguments(["--text", "--wait", "--to="])
    #expect(parsed.value("--text") == "--wait")
    #expect(parsed.value("--to") == "")
    #expect(!parsed.has("--wait"))
  }

  @Test(
    "a list's filter is what was typed, and a limit out of range is refused",
    arguments: [("0", false), ("1", true), ("1000", true), ("1001", false), ("many", false)])
  func limits(_ limit: String, _ isGood: Bool) throws {
    let parsed = try Arguments(
      ["--limit", limit, "--state=sent,failed", "--kind=chat"], options: ["--limit", "--state", "--kind"], flags: [])
    let request = try? List.request(parsed)
    #expect((request != nil) == isGood)
    if let request {
      #expect(request.filter.states == [.sent, .failed])
      #expect(request.filter.kind == .chatVideo)
    }
  }

  @Test("an option that is empty is a mistake, for it is a variable that is not set", arguments: ["--store", "--to"])
  func emptyOption(_ name: String) {
    #expect(throws: Arguments.Problem(message: "\(name) must not be empty")) {
      try Common(["\(name)="], options: ["--to", "--text"])
    }
    #expect(throws: Never.self) { try Common(["--text="], options: ["--to", "--text"]) }
  }

  @Test("a time is a span from now", arguments: [("90s", 90_000), ("2h", 7_200_000), ("1d", 86_400_000)])
  func after(_ word: String, _ span: Int64) throws {
    #expect(try Update.time(word, now: 5) == span + 5)
    #expect(try Update.time("now", now: 5) == 0)
    for wrong in ["", "5", "m", "-5m", "5y", "99999999999999999999d"] {
      #expect(throws: Arguments.Problem.self) { try Update.time(wrong, now: 5) }
    }
  }

  @Test("options that lead to the same engine are quoted for a shell")
  func sameEngine() throws {
    let common = try Common(["--store", "/a b/it's", "--config=c.json"])
    #expect(common.sameEngine == #" --store '/a b/it'\''s' --config c.json"#)
    #expect(try Common([]).sameEngine.isEmpty)
  }

  @Test("the engine is what TASKCENTERD says, else beside the client, else on PATH")
  func engineProgram() {
    func found(_ named: String?, _ there: Set<String>) -> String {
      Paths.engineProgram(named: named, besides: "/own", searchPath: "/a::/b", isThere: there.contains)
    }
    let all: Set = ["/own/taskcenterd", "/a/taskcenterd", "/b/taskcenterd"]
    #expect(found("/x/engine", all) == "/x/engine")
    #expect(found(nil, all) == "/own/taskcenterd")
    #expect(found(nil, ["/b/taskcenterd"]) == "/b/taskcenterd")
    #expect(found(nil, []) == "/own/taskcenterd")
  }
}

@Suite("Short names of tasks")
struct TaskNamesTests {
  let ids = ["01a2aaaa-0000-7000-8000-00000000beef", "01a2bbbb-0000-7000-8000-00000000cafe"]

  @Test(
    "the beginning or the end of an id is enough where it fits one task",
    arguments: [("01a2a", 0), ("01A2B", 1), ("cafe", 1), ("0000beef", 0), ("last", 0)])
  func pick(_ word: String, _ index: Int) throws {
    #expect(try TaskNames.pick(word, among: ids) == ids[index])
  }

  @Test("what fits several tasks names them, and what fits none says so")
  func doubt() {
    #expect(throws: Stop(status: Exit.usage, message: "\"01a2\" fits 2 tasks: \(ids[0]), \(ids[1])")) {
      try TaskNames.pick("01a2", among: ids)
    }
    #expect(throws: Stop(status: Exit.usage, message: "there is no task \"dead\"; see: taskcenter list --store s")) {
      try TaskNames.pick("dead", among: ids, sameEngine: " --store s")
    }
    #expect(throws: Stop(status: Exit.usage, message: "there is no task yet")) { try TaskNames.pick("last", among: []) }
  }

  @Test("fewer than four characters stand for nothing", arguments: ["", "a", "01a"])
  func short(_ word: String) {
    #expect(throws: Arguments.Problem.self) { try TaskNames.check(word) }
  }
}
