import JSON
import JSONRPC
import MediaTypes
import TaskModel
import TaskProtocol
import Testing

@testable import taskcenter

private func order(_ words: [String]) throws -> SendOrder {
  let arguments = try Arguments(
    words, options: ["--text", "--to", "--account", "--destination", "--key", "--cover", "--role"],
    flags: ["--keep", "--poster"])
  return try SendOrder(arguments, absolute: { Paths.join("/here", $0) })
}

@Suite("What send is told")
struct SendOrderTests {
  @Test(
    "each word is a kind of the engine",
    arguments: [
      ("feed", TaskKind.feedPost), ("chat", .chatVideo), ("message", .message), ("avatar", .avatar), ("log", .log),
    ])
  func kinds(_ word: String, _ kind: TaskKind) throws {
    #expect(try order([word, "a"]).submission.kind == kind)
  }

  @Test("files keep their order and become whole paths, with links unresolved")
  func paths() throws {
    let submission = try order(["feed", "b.jpg", "./a.jpg", "sub/../c.jpg", "/d.jpg"]).submission
    #expect(
      submission.resources.prefix(3).map(\.source) == ["b.jpg", "a.jpg", "sub/../c.jpg"].map { .path("/here/\($0)") })
    #expect(submission.resources.allSatisfy { $0.role == nil })
  }

  @Test("a log is one resource, whatever number of files")
  func log() throws {
    let paths = ["/here/a", "/here/b"]
    #expect(try order(["log", "a", "b"]).submission.resources == [ResourceDraft(source: .paths(paths))])
  }

  @Test("a cover follows its audio, and both say what they are")
  func cover() throws {
    let resources = try order(["feed", "song.m4a", "--cover", "front.png"]).submission.resources
    #expect(resources.map(\.role) == [.audio, .cover])
    #expect(resources.map(\.source) == [.path("/here/song.m4a"), .path("/here/front.png")])
  }

  @Test("posters are of videos, thumbnails of what can be seen, and where there is neither it says so")
  func derived() throws {
    func derived(_ words: [String]) throws -> [[ResourceRole]] {
      let arguments = try Arguments(words, options: [], flags: ["--poster", "--thumbnail"])
      let types = ["a.mp4": MediaType("video/mp4", .video), "a.jpg": MediaType("image/jpeg", .image)]
      let order = try SendOrder(arguments, absolute: { $0 }, type: { types[$0] })
      return order.submission.resources.map(\.derive)
    }
    #expect(
      try derived(["message", "a.mp4", "a.jpg", "--poster", "--thumbnail"]) == [[.poster, .thumbnail], [.thumbnail]])
    #expect(try derived(["message", "a.jpg"]) == [[]])
    #expect(throws: Arguments.Problem.self) { try derived(["message", "a.jpg", "--poster"]) }
    #expect(throws: Arguments.Problem.self) { try derived(["log", "a.jpg", "--thumbnail"]) }
  }

  @Test("a URL is a source of its own, and says what it is where the kind leaves a choice")
  func urls() throws {
    let resources = try order(["message", "https://x/a.JPG?t=1", "HTTP://x/b.mov", "c.jpg", "--keep"]).submission
      .resources
    #expect(
      resources.map(\.source) == [
        .url("https://x/a.JPG?t=1", file: nil), .url("HTTP://x/b.mov", file: nil),
        .kept(path: "/here/c.jpg", file: nil),
      ])
    #expect(resources.map(\.role) == [.image, .video, nil])
    #expect(try order(["avatar", "https://x/me"]).submission.resources.map(\.role) == [nil])
    #expect(try order(["feed", "https://x/me", "--role", "image"]).submission.resources.map(\.role) == [.image])
    #expect(
      try order(["feed", "https://x/s", "--cover", "https://x/c"]).submission.resources.map(\.role) == [.audio, .cover])
    #expect(try order(["message", "https://x/b.mov", "--poster"]).submission.resources[0].derive == [.poster])
  }

  @Test("options become fields of the submission")
  func options() throws {
    let words = ["--text", "hi", "--to", "alice", "--account=me", "--destination", "prod", "--key", "k"]
    let submission = try order(["message"] + words).submission
    #expect(submission.payload == ["text": "hi"])
    #expect(submission.lane == "alice" && submission.account == "me")
    #expect(submission.destination == "prod" && submission.key == "k")
    #expect(submission.resources.isEmpty)
  }

  @Test(
    "what can't be sent is refused before an engine is asked",
    arguments: [
      [], ["postcard", "a.jpg"], ["feed"], ["message"], ["log"], ["avatar", "a.jpg", "--cover", "b.jpg"],
      ["feed", "a", "b", "--cover", "c"],
      ["message", "https://x/what"], ["message", "https://x.jpg"], ["log", "https://x/a.log"], ["log", "a", "--keep"],
      ["feed", "https://x/a", "--role", "cover"], ["message", "https://x/a.jpg", "--poster"], ["message", "--text="],
      ["feed", ""],
    ])
  func refusals(_ words: [String]) {
    #expect(throws: Arguments.Problem.self) { try order(words) }
  }

  @Test(
    "a pointer into the request leads back to what was typed",
    arguments: [
      ("/resources/1/source/path", "./b.jpg"), ("/resources/0", "a.jpg"), ("/resources/7/source", ""),
      ("/resources", ""), ("/destination", "--destination"), ("/lane", "--to"), ("/payload/text", "--text"), ("", ""),
    ])
  func places(_ pointer: String, _ place: String) throws {
    #expect(try order(["feed", "a.jpg", "./b.jpg"]).place(of: pointer) == place)
  }

  @Test("a pointer into a log's paths leads to the file")
  func logPlaces() throws {
    let order = try order(["log", "a", "b"])
    #expect(order.place(of: "/resources/0/source/paths/1") == "b")
    #expect(order.place(of: "/resources/0/source") == "")
  }
}

@Suite("Refusals as sentences")
struct ErrorSentenceTests {
  @Test("a missing file is spoken of by the name that was typed")
  func missing() throws {
    let failure = Failure(.sourceMissing, "/here/b.jpg does not exist", remedy: .needsUser)
    let stop = ErrorSentence.of(
      .invalidSource(failure, pointer: "/resources/1/source/path"), submitting: try order(["feed", "a.jpg", "b.jpg"]))
    #expect(stop == Stop(status: 66, message: "b.jpg does not exist; look at its name"))
  }

  @Test("a message that names no file gets its place before it")
  func placed() throws {
    let failure = Failure(.unsupported, "this is neither a picture nor a film", remedy: .needsUser)
    let stop = ErrorSentence.of(
      .invalidSource(failure, pointer: "/resources/0/source/path"), submitting: try order(["avatar", "x.txt"]))
    #expect(stop.status == 66)
    #expect(stop.message.hasPrefix("x.txt: this is neither a picture nor a film; "))
  }

  @Test("a wrong option is named as an option")
  func option() throws {
    let error = RPCError.invalidParams(JSONShapeError(pointer: "/destination", message: "unknown destination \"moon\""))
    let stop = ErrorSentence.of(error, submitting: try order(["avatar", "x.jpg", "--destination", "moon"]))
    #expect(stop == Stop(status: 64, message: "--destination: unknown destination \"moon\""))
  }

  @Test("a busy lane says whom to wait for, on the same engine")
  func busyLane() {
    let stop = ErrorSentence.of(.laneBusy("t1"), sameEngine: " --store /s")
    #expect(stop.status == 75)
    #expect(stop.message.contains("wait for it: taskcenter watch t1 --store /s, "))
    #expect(stop.message.hasSuffix("take it back: taskcenter cancel t1 --store /s"))
  }

  @Test(
    "each refusal has the exit status that scripts know",
    arguments: [
      (.notFound("x"), 64), (.keyConflict("x"), 64), (.invalidState(.sent, "cancel"), 1), (.storageFull(), 75),
      (.busy(9), 75), (.storeUnavailable("gone"), 69), (EngineConnection.gone, 69), (EngineConnection.silent, 69),
      (.internalError("?"), 70), (RPCError(code: -1, message: "?"), 70),
    ] as [(RPCError, Int32)])
  func statuses(_ error: RPCError, _ status: Int32) { #expect(ErrorSentence.of(error).status == status) }

  @Test("an engine's own reason for not starting is said without the log around it, with its exit status")
  func reason() {
    let text = "2026-11-30T06:00:00Z info: hello\ntaskcenterd: the config is broken: /uploads/slots: must be 1 to 64\n"
    let expected = Stop(status: 78, message: "the config is broken: /uploads/slots: must be 1 to 64")
    #expect(EngineLaunch.stop(after: 78, saying: text) == expected)
  }

  @Test("an engine's end without a reason is never taken for success")
  func silentEnd() {
    #expect(EngineLaunch.stop(after: 0, saying: "").status == 69)
    #expect(EngineLaunch.stop(after: nil, saying: "Illegal instruction").status == 70)
    let unnamed = Stop(status: 127, message: "the engine ended with exit status 127")
    #expect(EngineLaunch.stop(after: 127, saying: "") == unnamed)
  }
}
