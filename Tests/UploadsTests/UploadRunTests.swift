import JSON
import Synchronization
import TaskModel
import Testing

@testable import Uploads

/// Does what it is told, and notes what it was asked.
private final class ScriptedEndpoint: UploadEndpoint {
  static let name = "scripted"

  struct Script {
    var found: [FoundUpload] = []
    /// Bytes per append, else a failure.
    var appends: [Result<Int64, Failure>] = []
    var finishes: [Result<Void, Failure>] = []
    /// After a failed append.
    var held: Int64 = 0
    var asked: [String] = []
  }

  let script: Mutex<Script>
  init(_ script: Script) { self.script = Mutex(script) }
  var asked: [String] { script.withLock { $0.asked } }
  var heldBytes: Int64 { script.withLock { $0.held } }

  func find(_ saved: JSONObject) async throws -> FoundUpload {
    script.withLock { script in
      script.asked.append("find \(saved["uploadId"]?.string ?? "?")")
      return script.found.isEmpty ? .lost : script.found.removeFirst()
    }
  }

  func create(save: @escaping UploadSave) async throws {
    let number = script.withLock { script in
      script.asked.append("create")
      return script.asked.count { $0 == "create" }
    }
    try await save(["uploadId": .string("u\(number)")])
  }

  func append(from offset: Int64, progress: @escaping UploadProgress) async throws -> Int64 {
    try script.withLock { script in
      script.asked.append("append \(offset)")
      return offset + (script.appends.isEmpty ? 5 : try script.appends.removeFirst().get())
    }
  }

  func finish() async throws -> UploadResult {
    try script.withLock { script in
      script.asked.append("finish")
      if !script.finishes.isEmpty { try script.finishes.removeFirst().get() }
    }
    return UploadResult(url: "done", uploadProtocol: Self.name)
  }

  func letGo() async { script.withLock { $0.asked.append("letGo") } }
}

@Suite("One try of an upload")
struct UploadRunTests {
  private static let export = ExportedFile(file: "f", mime: "m", size: 10, md5: "d", sha256: "s")
  private static let lost = Failure(.uploadLost, "lost", remedy: .restart)
  private static let look = Failure(.integrityMismatch, "look", remedy: .resume)

  private func run(
    _ script: ScriptedEndpoint.Script, _ memory: TestMemory = TestMemory(), size: Int64 = 10,
    watch: UploadWatch = UploadWatch()
  ) async -> (result: Result<UploadResult, any Error>, asked: [String]) {
    let endpoint = ScriptedEndpoint(script)
    var export = Self.export
    export.size = size
    let checkpoint = UploadCheckpoint(memory, export)
    do {
      let result = try await UploadRun(
        endpoint: endpoint, checkpoint: checkpoint, size: size, watch: watch, progress: { _ in }
      ).run()
      return (.success(result), endpoint.asked)
    } catch {
      return (.failure(error), endpoint.asked)
    }
  }

  private func saved(_ id: String, md5: String = "d", by name: String = "scripted") -> JSONValue {
    ["protocol": .string(name), "size": 10, "md5": .string(md5), "uploadId": .string(id)]
  }

  @Test("what is needed to go on is saved before the first byte")
  func fromNothing() async {
    let memory = TestMemory()
    #expect(await run(.init(), memory).asked == ["create", "append 0", "append 5", "finish"])
    #expect(memory.saved?["uploadId"] == "u1" && memory.saved?["protocol"] == "scripted")
  }

  @Test("an empty file has its one request")
  func empty() async { #expect(await run(.init(), size: 0).asked == ["create", "append 0", "finish"]) }

  @Test("what an earlier try has left is gone on with, from what the server has")
  func goesOn() async {
    let memory = TestMemory(saved("old"))
    #expect(await run(.init(found: [.holds(5)]), memory).asked == ["find old", "append 5", "finish"])
    #expect(memory.discarded == [])
  }

  @Test("an object that is there already needs no more")
  func finished() async {
    let there = UploadResult(url: "there", uploadProtocol: "scripted")
    let run = await run(.init(found: [.finished(there)]), TestMemory(saved("old")))
    #expect(run.asked == ["find old"])
    #expect(try! run.result.get() == there)
  }

  @Test(
    "what is saved of other bytes, of another protocol or of no sense is given up",
    arguments: [
      ["protocol": "scripted", "size": 10, "md5": "other", "uploadId": "x"],
      ["protocol": "other", "size": 10, "md5": "d", "uploadUrl": "x"], ["nonsense": true],
    ] as [JSONValue])
  func foreign(_ state: JSONValue) async {
    let memory = TestMemory(state)
    #expect(await run(.init(), memory).asked == ["create", "append 0", "append 5", "finish"])
    #expect(memory.discarded == [state])
  }

  @Test("an upload that the server lost in the middle begins anew, once")
  func lostInTheMiddle() async {
    let memory = TestMemory()
    let run1 = await run(.init(appends: [.success(5), .failure(Self.lost)]), memory)
    #expect(
      run1.asked == ["create", "append 0", "append 5", "find u1", "create", "append 0", "append 5", "finish"])
    #expect(memory.discarded.map { $0["uploadId"] } == ["u1"] && memory.saved?["uploadId"] == "u2")
    let always = await run(.init(appends: Array(repeating: .failure(Self.lost), count: 9)))
    #expect(always.asked.count { $0 == "create" } == 2)
    #expect(throws: Failure.self) { try always.result.get() }
  }

  @Test("where the server contradicts, it is asked, but not for ever")
  func looks() async {
    let once = await run(.init(found: [.holds(10)], finishes: [.failure(Self.look)]))
    #expect(once.asked == ["create", "append 0", "append 5", "finish", "find u1", "finish"])
    let script = ScriptedEndpoint.Script(
      found: Array(repeating: .holds(10), count: 9), finishes: Array(repeating: .failure(Self.look), count: 9))
    let always = await run(script)
    #expect(always.asked.count { $0 == "finish" } == 3)
    #expect(always.asked.last == "letGo")
    #expect(throws: Failure.self) { try always.result.get() }
  }

  @Test("a failure leaves the upload where it is, for the next try")
  func failure() async {
    let memory = TestMemory()
    let down = Failure(.unavailable, "down", remedy: .retry)
    let run = await run(.init(appends: [.success(5), .failure(down)]), memory)
    #expect(run.asked == ["create", "append 0", "append 5", "letGo"])
    #expect(memory.saved?["uploadId"] == "u1" && memory.discarded == [])
  }

  @Test("what arrived before a failure is progress too")
  func progressBeforeFailure() async {
    let refused = Failure(.forbidden, "expired", remedy: .refreshCredential)
    for held: Int64 in [5, 0] {
      let told = Told()
      _ = await run(.init(appends: [.failure(refused)], held: held), watch: UploadWatch(advanced: { told.note(1) }))
      #expect(told.values.count == (held > 0 ? 1 : 0))
    }
  }

  @Test("the same bytes again are no progress: a server that forgets what it took is not asked for ever")
  func forgetful() async {
    let told = Told()
    let run = await run(
      .init(found: Array(repeating: .holds(0), count: 9), finishes: Array(repeating: .failure(Self.look), count: 9)),
      watch: UploadWatch(advanced: { told.note(1) }))
    #expect(run.asked.count { $0 == "finish" } == 3)
    #expect(told.values.count == 2)
    #expect(throws: Failure.self) { try run.result.get() }
  }

  @Test("nor are they in a later attempt, also where the upload had to be begun anew", arguments: [false, true])
  func forgetfulOverAttempts(_ isLost: Bool) async {
    let (memory, told) = (TestMemory(), Told())
    let watch = UploadWatch(advanced: { told.note(1) })
    let down = isLost ? Self.lost : Failure(.unavailable, "down", remedy: .retry)
    for _ in 0..<3 {
      let appends: [Result<Int64, Failure>] = [.success(5), .failure(down), .success(5), .failure(down)]
      _ = await run(.init(found: isLost ? [] : [.holds(0)], appends: appends), memory, watch: watch)
    }
    #expect(told.values.count == 1)
    _ = await run(
      .init(found: isLost ? [] : [.holds(0)], appends: [.success(6), .failure(down), .failure(down)]), memory,
      watch: watch)
    #expect(told.values.count == 2)
  }

  @Test("what has to be sent again is no progress, and shows all the same that the credential is good")
  func sentAgain() async {
    let (moved, advanced) = (Told(), Told())
    let memory = TestMemory(["protocol": "scripted", "size": 10, "md5": "d", "uploadId": "old", "best": 10])
    let run = await run(
      .init(), memory, watch: UploadWatch(moved: { moved.note(1) }, advanced: { advanced.note(1) }))
    #expect(run.asked == ["find old", "create", "append 0", "append 5", "finish"])
    #expect(moved.values.count == 2 && advanced.values.isEmpty)
  }

  @Test("a server that says thanks and has no more than before is not sent the same for ever")
  func takesNothing() async {
    let run = await run(
      .init(found: Array(repeating: .holds(0), count: 9), appends: Array(repeating: .success(0), count: 9)))
    #expect(run.asked.count { $0.hasPrefix("append") } == 3)
    #expect(throws: Failure.self) { try run.result.get() }
  }

  @Test("a credential that is about to expire is asked about between pieces, never before the first")
  func expiring() async {
    let watch = UploadWatch(isExpiring: { true })
    let run = await run(.init(), watch: watch)
    #expect(run.asked == ["create", "append 0", "letGo"])
    #expect(throws: Failure.self) { try run.result.get() }
  }
}
