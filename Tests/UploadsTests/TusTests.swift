import Foundation
import JSON
import TaskModel
import TaskTestSupport
import Testing

@testable import Uploads

/// A tus server that does what it is told, a proxy before it that counts and breaks, and the service under test.
private final class TusBench {
  let files: TemporaryFolder
  let tus: ServerProcess
  let proxy: FlakyProxy
  let issuer: TestServer
  let fixture: Fixture
  let memory = TestMemory()
  var withPublicUrl = true
  static let part = 100_000

  init(size: Int, rule: String = "match=never") throws {
    files = try TemporaryFolder()
    tus = try ServerProcess("tus_server.py", ["--dir", files.path])
    proxy = try FlakyProxy(targetPort: tus.port, rule: rule)
    issuer = try TestServer()
    fixture = try Fixture(sizes: [size])
  }

  var direct: String { tus.url }

  func set(_ json: String) throws { try tus.set(json) }

  struct Request: Equatable {
    let method: String
    let status: Int
    let offset: String
    let checksum: String
    let authorization: String
  }

  func log() throws -> [Request] {
    try tus.log().map {
      Request(
        method: $0["method"] as? String ?? "", status: $0["status"] as? Int ?? 0, offset: $0["offset"] as? String ?? "",
        checksum: $0["checksum"] as? String ?? "", authorization: $0["authorization"] as? String ?? "")
    }
  }

  func methods() throws -> [String] { try log().map(\.method).filter { $0 != "OPTIONS" } }

  /// One attempt; a service of its own, as after a restart.
  func upload() async throws -> UploadResult {
    var credential: JSONObject = [
      "protocol": "tus", "endpoint": .string(proxy.url + "/files"), "headers": ["Authorization": "secret"],
    ]
    if withPublicUrl { credential["publicUrl"] = .string(direct + "/objects/my%20photo.jpg") }
    try issuer.issue(credential)
    let session = try fixture.service(issuer.credentialSource, partSize: Int64(Self.part)).session(for: fixture.task)
    return try await session.upload(fixture.task.resources[0], of: fixture.task, memory: memory) { _ in }
  }

  func failure() async -> Failure? { await TaskTestSupport.failure { try await upload() } }

  /// What is read at the object's place.
  func object() throws -> Data { try Curl.fetch("\(direct)/objects/my%20photo.jpg") }

  func isWhole() throws -> Bool { try object() == fixture.folder.read("export-0") }
}

@Suite("Uploads by tus", .serialized)
struct TusTests {
  @Test("a file goes up in pieces with their checksums, and the place where it is read is told")
  func whole() async throws {
    let bench = try TusBench(size: 350_000)
    let result = try await bench.upload()
    #expect(result.url == bench.direct + "/objects/my%20photo.jpg")
    #expect(result.etag == nil)
    #expect(result.uploadProtocol == "tus")
    #expect(try bench.isWhole())
    let log = try bench.log()
    #expect(log.map(\.method) == ["OPTIONS", "POST", "PATCH", "PATCH", "PATCH", "PATCH"])
    #expect(log.dropFirst(2).map(\.offset) == ["0", "100000", "200000", "300000"])
    #expect(log.dropFirst(2).allSatisfy { $0.checksum.hasPrefix("sha256 ") })
    #expect(log.allSatisfy { $0.authorization == "secret" })
    #expect(bench.memory.saved?["uploadUrl"]?.string?.hasPrefix(bench.proxy.url + "/files/") == true)
    #expect(!JSONWriter.text(bench.memory.saved ?? .null).contains("secret"))
  }

  @Test("a small file goes with its creation where the server takes it, and only there", arguments: [true, false])
  func small(_ isTaken: Bool) async throws {
    let bench = try TusBench(size: 5_000)
    if !isTaken { try bench.set(#"{"extensions":"creation"}"#) }
    _ = try await bench.upload()
    #expect(try bench.isWhole())
    #expect(try bench.methods() == (isTaken ? ["POST"] : ["POST", "PATCH"]))
    #expect(bench.memory.all.count == (isTaken ? 0 : 1))
  }

  @Test("a server that answers no OPTIONS gets no checksum, and the file")
  func noOptions() async throws {
    let bench = try TusBench(size: 150_000)
    try bench.set(#"{"extensions":""}"#)
    _ = try await bench.upload()
    #expect(try bench.isWhole())
    #expect(try bench.log().allSatisfy { $0.checksum == "" })
  }

  @Test("an empty file is an upload too")
  func empty() async throws {
    let bench = try TusBench(size: 0)
    _ = try await bench.upload()
    #expect(try bench.object().isEmpty)
    #expect(try bench.methods() == ["POST", "PATCH"])
  }

  @Test("without a place to read it, the upload's own URL is told")
  func ownURL() async throws {
    let bench = try TusBench(size: 150_000)
    bench.withPublicUrl = false
    #expect(try await bench.upload().url == bench.memory.saved?["uploadUrl"]?.string)
  }

  @Test(
    "where a kept connection breaks the server is asked at once, and no more than one piece goes again",
    arguments: ["cut=0", "cut=60000", "reset=60000", "eatreply=1"])
  func goesOn(_ fault: String) async throws {
    let bench = try TusBench(size: 1_000_000, rule: "match=PATCH,skip=5,\(fault)")
    try bench.set(#"{"patient":true}"#)
    _ = try await bench.upload()
    #expect(try bench.isWhole())
    #expect(try bench.proxy.bodyBytes() <= 1_000_000 + TusBench.part)
    #expect(try bench.methods().filter { $0 != "PATCH" } == ["POST", "HEAD"])
    #expect(bench.memory.discarded.isEmpty)
  }

  @Test("a line that breaks every time ends the attempt, and the next one goes on", arguments: ["cut", "reset"])
  func resumes(_ fault: String) async throws {
    let bench = try TusBench(size: 1_000_000, rule: "match=PATCH,skip=5,times=0,\(fault)=60000")
    try bench.set(#"{"patient":true}"#)
    let failure = await bench.failure()
    #expect(failure?.isPermanent == false && failure?.madeProgress == true)
    #expect(try bench.methods().count { $0 == "HEAD" } == 2, "it is not asked for ever")
    try bench.proxy.rules("")
    _ = try await bench.upload()
    #expect(try bench.isWhole())
    #expect(try bench.methods().count { $0 == "POST" } == 1)
    #expect(bench.memory.discarded.isEmpty)
  }

  @Test("what a server keeps of a broken piece is not sent again")
  func partial() async throws {
    let bench = try TusBench(size: 90_000, rule: "match=PATCH,cut=60000")
    try bench.set(#"{"extensions":"creation","patient":true}"#)
    _ = try await bench.upload()
    #expect(try bench.proxy.bodyBytes() == 90_000)
    #expect(try bench.log().last?.offset == "60000")
    #expect(try bench.isWhole())
  }

  @Test("a lost answer is no lost piece")
  func lostAnswer() async throws {
    let bench = try TusBench(size: 300_000, rule: "match=PATCH,skip=1,eatreply=1")
    try bench.set(#"{"patient":true}"#)
    _ = try await bench.upload()
    #expect(try bench.isWhole())
    #expect(try bench.proxy.bodyBytes() == 300_000)
  }

  @Test("the last answer lost, and the server forgot what is done: the object is found", arguments: [404, 410])
  func lostEnd(_ status: Int) async throws {
    let bench = try TusBench(size: 250_000)
    try bench.set(#"{"forgetFinished":true,"loseEnd":\#(status)}"#)
    let result = try await bench.upload()
    #expect(result.url == bench.direct + "/objects/my%20photo.jpg")
    #expect(try bench.methods().count { $0 == "POST" } == 1)
    #expect(bench.memory.discarded.isEmpty)
  }

  @Test("an object of another size is not ours: it begins anew")
  func otherObject() async throws {
    let bench = try TusBench(size: 250_000)
    try FileManager.default.createDirectory(atPath: bench.files("objects"), withIntermediateDirectories: true)
    try bench.set(#"{"loseEnd":503}"#)
    _ = await bench.failure()
    try bench.files.write(Data("short".utf8), to: "objects/my photo.jpg")
    try bench.set(#"{"gone":404}"#)
    _ = try await bench.upload()
    #expect(try bench.isWhole())
    #expect(try bench.methods().count { $0 == "POST" } == 2)
    #expect(bench.memory.discarded.count == 1)
  }

  @Test("B014: an upload that is gone begins anew once, and the old one is given up", arguments: [404, 410])
  func gone(_ status: Int) async throws {
    let bench = try TusBench(size: 400_000, rule: "match=PATCH,skip=2,cut=10,times=0")
    _ = await bench.failure()
    try bench.proxy.rules("")
    let old = bench.memory.saved
    try bench.set(#"{"gone":\#(status)}"#)
    _ = try await bench.upload()
    #expect(try bench.isWhole())
    #expect(bench.memory.discarded == [old])
    #expect(bench.memory.saved != old)
  }

  @Test("a server that has more than it knows of, or less than it said, has another upload", arguments: [500_000, 10])
  func strangeOffset(_ offset: Int) async throws {
    let bench = try TusBench(size: 400_000)
    // The third piece is answered with a conflict, so the offset is looked at.
    try bench.set(#"{"loseEnd":409,"sayOffset":\#(offset)}"#)
    _ = try await bench.upload()
    #expect(try bench.isWhole())
    #expect(bench.memory.discarded.count == 1)
  }

  @Test("another offset is followed: what the server says is so")
  func conflict() async throws {
    let bench = try TusBench(size: 400_000)
    try bench.set(#"{"loseEnd":409}"#)
    _ = try await bench.upload()
    #expect(try bench.isWhole())
    #expect(try bench.methods() == ["POST", "PATCH", "PATCH", "PATCH", "PATCH", "HEAD"])
  }

  @Test("a lock is waited for, and no second upload begun")
  func locked() async throws {
    let bench = try TusBench(size: 300_000, rule: "match=PATCH,skip=1,cut=10,times=0")
    try bench.set(#"{"patient":true}"#)
    _ = await bench.failure()
    try bench.proxy.rules("")
    try bench.set(#"{"lock":1}"#)
    let failure = await bench.failure()
    #expect(failure?.httpStatus == 423)
    #expect(failure?.retryAfterMs == 2_000)
    #expect(failure?.heldOrigin == nil)
    _ = try await bench.upload()
    #expect(try bench.isWhole())
    #expect(try bench.methods().count { $0 == "POST" } == 1)
  }

  @Test("bytes that were changed on the way are sent again, twice at most")
  func mismatch() async throws {
    let bench = try TusBench(size: 150_000)
    try bench.set(#"{"mismatch":2}"#)
    _ = try await bench.upload()
    #expect(try bench.isWhole())
    let worse = try TusBench(size: 150_000)
    try worse.set(#"{"mismatch":3}"#)
    #expect(await worse.failure()?.code == .integrityMismatch)
    #expect(try worse.methods().count { $0 == "PATCH" } == 3)
  }

  @Test("a flipped bit is found by the checksum and sent again")
  func corrupted() async throws {
    let bench = try TusBench(size: 350_000, rule: "match=PATCH,skip=1,corrupt=500")
    _ = try await bench.upload()
    #expect(try bench.isWhole())
    #expect(try bench.log().map(\.status).contains(460))
  }

  @Test("a refusal asks for one fresh credential, and a second one ends it")
  func refused() async throws {
    let once = try TusBench(size: 350_000, rule: "match=PATCH,skip=1,early=403")
    _ = try await once.upload()
    #expect(try once.isWhole())
    let asked = try once.issuer.log()
    #expect(asked.count == 2)
    #expect(asked[1].body.contains(#""renew":true"#) && asked[1].body.contains("uploadUrl"))
    let always = try TusBench(size: 350_000, rule: "match=PATCH,times=0,early=403")
    #expect(await always.failure()?.code == .forbidden)
  }

  @Test("another version of the export is not added to the first")
  func changedFile() async throws {
    let bench = try TusBench(size: 300_000, rule: "match=PATCH,skip=1,cut=10,times=0")
    _ = await bench.failure()
    try bench.fixture.folder.write(.sample(300_000, seed: 77), to: "export-0")
    let failure = await bench.failure()
    #expect(failure?.code == .integrityMismatch)
    #expect(failure?.remedy == .restart)
  }

  @Test("what nobody will finish is taken back: 404 is done, 503 comes again, 405 is no sin")
  func abandoned() async throws {
    let bench = try TusBench(size: 300_000, rule: "match=PATCH,skip=1,cut=10,times=0")
    _ = await bench.failure()
    try bench.proxy.rules("")
    let state = try #require(bench.memory.saved)
    let service = bench.fixture.service(bench.issuer.credentialSource)
    /// The server may hold the lock of the request that was cut for a moment longer.
    func abandon() async throws {
      for _ in 0..<500 {
        do {
          return try await service.abandon(state, destination: "d")
        } catch let failure as Failure where failure.httpStatus == 423 { await Task.yield() }
      }
    }
    try bench.set(#"{"deleteStatus":503}"#)
    await #expect(throws: Failure.self) { try await abandon() }
    try await abandon()
    #expect(try FileManager.default.contentsOfDirectory(atPath: bench.files.path).filter { $0 != "objects" } == [])
    try await abandon()
    try bench.set(#"{"deleteStatus":405}"#)
    try await abandon()
    let statuses = try bench.log().filter { $0.method == "DELETE" && $0.status != 423 }.map(\.status)
    #expect(statuses == [503, 204, 404, 405])
  }
}
