import Foundation
import JSON
import Synchronization
import TaskConfig
import TaskModel
import TaskTestSupport
import Testing

@testable import Uploads

/// Against SeaweedFS, with keys as a config gives them. One after the other: each holds a thread of the pool while it looks
/// at the server, and there may be two of them only.
@Suite("Multipart, signed here, on a real server", .serialized)
struct MultipartTests {
  let weed: WeedServer
  /// Of this test alone.
  let prefix = "t-\(UUID().uuidString.lowercased())/"

  init() throws { weed = try WeedServer.running() }

  private func bucket(_ url: String? = nil, secret: String = WeedServer.secret) -> CredentialSource {
    .fixed(
      .bucket(
        StaticUpload.Bucket(
          endpoint: url ?? weed.url, region: WeedServer.region, name: "media", keyPrefix: prefix, pathStyle: true,
          accessKeyId: WeedServer.key, secretAccessKey: secret, publicUrl: "https://cdn.test/{account}/{key}")))
  }

  private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

  private func upload(
    _ fixture: Fixture, _ source: CredentialSource? = nil, _ memory: any UploadMemory = NoMemory(),
    now: Int64 = now, progress: @escaping @Sendable (Int64) -> Void = { _ in }
  ) async throws -> UploadResult {
    let session = try fixture.service(source ?? bucket(), now: now).session(for: fixture.task)
    return try await session.upload(fixture.task.resources[0], of: fixture.task, memory: memory, progress: progress)
  }

  private func stored(_ fixture: Fixture) throws -> Data {
    let name = fixture.task.resources[0].name.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? ""
    return try weed.fetch("/media/\(prefix)0190-task/0-\(name)")
  }

  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  @Test(
    "an object arrives under its key, whatever is in the name, in one request or in parts",
    arguments: [
      "a b+c&d=e.jpg", "日本 é.png", "😀👩‍👩‍👧.jpg", "100%25.jpg", "it's (1)!*.jpg", "a;b:c@d,e$f?g#h[1].jpg", "~._-",
    ])
  func keys(_ name: String) async throws {
    let small = try Fixture(sizes: [100], name: name)
    let result = try await upload(small)
    #expect(result.etag == small.task.resources[0].export?.md5 && result.uploadProtocol == "multipart")
    #expect(try stored(small) == .sample(100, seed: 0))
    #expect(result.url.hasPrefix("https://cdn.test/me/\(prefix)0190-task/0-"))
    let large = try Fixture(sizes: [(5 << 20) + 1], name: name)
    #expect(try await upload(large).etag?.hasSuffix("-2") == true)
    #expect(try stored(large) == .sample((5 << 20) + 1, seed: 0))
  }

  @Test("an empty file arrives")
  func empty() async throws {
    let fixture = try Fixture(sizes: [0])
    #expect(try await upload(fixture).etag == "d41d8cd98f00b204e9800998ecf8427e")
    #expect(try stored(fixture).isEmpty)
  }

  @Test("type and token are with the object, nothing secret is saved, and progress ends with the last byte")
  func facts() async throws {
    let fixture = try Fixture(sizes: [11 << 20])
    let memory = TestMemory()
    let told = Told()
    _ = try await upload(fixture, nil, memory) { told.note($0) }
    let head = String(decoding: try weed.fetch("/media/\(prefix)0190-task/0-my%20photo.jpg", ["-I"]), as: UTF8.self)
    #expect(head.lowercased().contains("content-type: image/jpeg"))
    let md5 = try #require(fixture.task.resources[0].export?.md5)
    #expect(head.lowercased().contains("x-amz-meta-taskcenter: 0190-task/0/\(md5)"))
    #expect(memory.all.first?["uploadId"] == nil, "an intent comes first")
    #expect(memory.saved?["uploadId"] != nil && memory.saved?["partSize"]?.int == 5 << 20)
    #expect(!memory.all.map(JSONWriter.text).joined().contains(WeedServer.secret))
    #expect(told.values == told.values.sorted() && told.values.last == 11 << 20)
  }

  @Test("after a cut only what is missing goes up, and nothing was taken back")
  func resumes() async throws {
    let fixture = try Fixture(sizes: [16 << 20])
    let proxy = try FlakyProxy(targetPort: weed.port, rule: "match=partNumber=3,cut=1000000,times=0")
    let memory = TestMemory()
    let cut = await failure { try await upload(fixture, bucket(proxy.url), memory) }
    #expect(cut?.remedy == .retry && cut?.madeProgress == true)
    #expect(try weed.openUploads(prefix).count == 1)
    try proxy.rules("")
    let before = try proxy.bodyBytes()
    _ = try await upload(fixture, bucket(proxy.url), memory)
    // Parts 3 and 4, and the list of parts.
    #expect(try proxy.bodyBytes() - before < (6 << 20) + 2_000)
    #expect(try stored(fixture) == .sample(16 << 20, seed: 0))
    #expect(memory.discarded == [])
  }

  @Test("a part goes again at once where its kept connection broke")
  func brokenConnection() async throws {
    let fixture = try Fixture(sizes: [11 << 20])
    let proxy = try FlakyProxy(targetPort: weed.port, rule: "match=partNumber=2,cut=1000000")
    _ = try await upload(fixture, bucket(proxy.url))
    #expect(try stored(fixture) == .sample(11 << 20, seed: 0))
  }

  @Test("a part that is not ours by its bytes is sent again")
  func foreignPart() async throws {
    let fixture = try Fixture(sizes: [11 << 20])
    let proxy = try FlakyProxy(targetPort: weed.port, rule: "match=partNumber=2,cut=1000,times=0")
    let memory = TestMemory()
    _ = await failure { try await upload(fixture, bucket(proxy.url), memory) }
    let id = try #require(memory.saved?["uploadId"]?.string)
    let other = try fixture.folder.write(.sample(5 << 20, seed: 99), to: "other")
    let key = "/media/\(prefix)0190-task/0-my%20photo.jpg"
    _ = try weed.fetch(
      "\(key)?partNumber=1&uploadId=\(id)", ["-T", other, "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD"])
    try proxy.rules("")
    _ = try await upload(fixture, bucket(proxy.url), memory)
    #expect(try stored(fixture) == .sample(11 << 20, seed: 0))
  }

  @Test("an upload that the server forgot begins anew, and the old one is given up")
  func forgotten() async throws {
    let fixture = try Fixture(sizes: [11 << 20])
    let proxy = try FlakyProxy(targetPort: weed.port, rule: "match=partNumber=2,cut=1000,times=0")
    let memory = TestMemory()
    _ = await failure { try await upload(fixture, bucket(proxy.url), memory) }
    let id = try #require(memory.saved?["uploadId"]?.string)
    _ = try weed.fetch("/media/\(prefix)0190-task/0-my%20photo.jpg?uploadId=\(id)", ["-X", "DELETE"])
    try proxy.rules("")
    _ = try await upload(fixture, bucket(proxy.url), memory)
    #expect(memory.discarded.map { $0["uploadId"]?.string } == [id])
    #expect(try stored(fixture) == .sample(11 << 20, seed: 0))
  }

  @Test("a Complete whose answer was lost is found out by looking at the object")
  func lostComplete() async throws {
    let fixture = try Fixture(sizes: [11 << 20])
    let proxy = try FlakyProxy(targetPort: weed.port, rule: "match=?uploadId=,eatreply=1,times=0")
    let memory = TestMemory()
    let lost = await failure { try await upload(fixture, bucket(proxy.url), memory) }
    #expect(lost?.remedy == .retry)
    try proxy.rules("")
    let before = try proxy.bodyBytes()
    #expect(try await upload(fixture, bucket(proxy.url), memory).etag?.hasSuffix("-3") == true)
    #expect(try proxy.bodyBytes() - before == 0)
    #expect(try stored(fixture) == .sample(11 << 20, seed: 0))
  }

  @Test("another object under the key is no proof that ours arrived")
  func otherObject() async throws {
    let fixture = try Fixture(sizes: [11 << 20])
    let proxy = try FlakyProxy(targetPort: weed.port, rule: "match=partNumber=2,cut=1000,times=0")
    let memory = TestMemory()
    _ = await failure { try await upload(fixture, bucket(proxy.url), memory) }
    let id = try #require(memory.saved?["uploadId"]?.string)
    let key = "/media/\(prefix)0190-task/0-my%20photo.jpg"
    let other = try fixture.folder.write(.sample(11 << 20, seed: 99), to: "other")
    _ = try weed.fetch(key, ["-T", other, "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD"])
    _ = try weed.fetch("\(key)?uploadId=\(id)", ["-X", "DELETE"])
    try proxy.rules("")
    _ = try await upload(fixture, bucket(proxy.url), memory)
    #expect(try stored(fixture) == .sample(11 << 20, seed: 0))
  }

  @Test("an upload whose id was lost in a crash is found by its key")
  func lostId() async throws {
    let fixture = try Fixture(sizes: [11 << 20])
    let proxy = try FlakyProxy(targetPort: weed.port, rule: "match=?uploads=,eatreply=1,times=0")
    let memory = TestMemory()
    _ = await failure { try await upload(fixture, bucket(proxy.url), memory) }
    let open = try weed.openUploads(prefix)
    #expect(open.count == 1 && memory.saved?["uploadId"] == nil)
    try proxy.rules("")
    _ = try await upload(fixture, bucket(proxy.url), memory)
    #expect(try stored(fixture) == .sample(11 << 20, seed: 0))
    #expect(try weed.openUploads(prefix) == [])
  }

  @Test("keys that may not list begin anew where an id was lost, and send again what they can't ask for")
  func mayNotList() async throws {
    let fixture = try Fixture(sizes: [11 << 20])
    let mayNot = "match=GET /media,status=403,times=0,body=<Error><Code>AccessDenied</Code></Error>"
    for rule in ["match=?uploads=,eatreply=1,times=0", "match=partNumber=2,cut=1000,times=0"] {
      let proxy = try FlakyProxy(targetPort: weed.port, rule: rule)
      let memory = TestMemory()
      _ = await failure { try await upload(fixture, bucket(proxy.url), memory) }
      try proxy.rules(mayNot)
      _ = try await upload(fixture, bucket(proxy.url), memory)
      #expect(try stored(fixture) == .sample(11 << 20, seed: 0))
    }
  }

  @Test("what nobody will finish is taken back, also without its id, and twice is fine")
  func abandon() async throws {
    let fixture = try Fixture(sizes: [11 << 20])
    let service = fixture.service(bucket(), now: Self.now)
    for rule in ["match=partNumber=2,cut=1000,times=0", "match=?uploads=,eatreply=1,times=0"] {
      let memory = TestMemory()
      let proxy = try FlakyProxy(targetPort: weed.port, rule: rule)
      _ = await failure { try await upload(fixture, bucket(proxy.url), memory) }
      #expect(try weed.openUploads(prefix).count == 1)
      let state = try #require(memory.saved)
      for _ in 0..<2 { try await service.abandon(pointing(state, at: weed.url), destination: "d") }
      #expect(try weed.openUploads(prefix) == [])
    }
    let memory = TestMemory()
    let proxy = try FlakyProxy(targetPort: weed.port, rule: "match=partNumber=2,cut=1000,times=0")
    _ = await failure { try await upload(fixture, bucket(proxy.url), memory) }
    let unreachable = pointing(try #require(memory.saved), at: "http://127.0.0.1:1")
    let found = await #expect(throws: Failure.self) { try await service.abandon(unreachable, destination: "d") }
    #expect(found?.isPermanent == false)
  }

  /// The state as it would be without the proxy.
  private func pointing(_ state: JSONValue, at url: String) -> JSONValue {
    guard var object = state.object else { return state }
    object["endpoint"] = .string(url)
    return .object(object)
  }

  @Test("a clock that is off by 40 minutes is set right by the server's", arguments: [-40, 40] as [Int64])
  func skew(_ minutes: Int64) async throws {
    let fixture = try Fixture(sizes: [11 << 20])
    let proxy = try FlakyProxy(targetPort: weed.port, rule: "match=nothing")
    _ = try await upload(fixture, bucket(proxy.url), now: Self.now + minutes * 60_000)
    #expect(try stored(fixture) == .sample(11 << 20, seed: 0))
    #expect(try proxy.requests() == 6, "one request is refused: create twice, three parts, complete")
  }

  @Test("a wrong key is forbidden, and the message names no secret")
  func wrongKey() async throws {
    let fixture = try Fixture(sizes: [10])
    let found = await failure { try await upload(fixture, bucket(secret: "not-the-secret")) }
    #expect(found?.code == .forbidden && found?.remedy == .needsUser)
    #expect(found?.message.contains("not-the-secret") == false)
  }

  @Test("a file that shrinks or changes while it goes up ends the try, and has to be made again")
  func changes() async throws {
    let fixture = try Fixture(sizes: [11 << 20])
    let memory = TestMemory()
    let path = fixture.folder("export-0")
    let once = Told()
    let found = await failure {
      try await upload(fixture, nil, memory) { _ in
        guard once.isFirst() else { return }
        try? Data.sample(100, seed: 5).write(to: URL(fileURLWithPath: path + ".new"))
        truncate(path, 6 << 20)
      }
    }
    #expect(found?.code == .integrityMismatch && found?.remedy == .restart)
    #expect(throws: (any Error).self) { try stored(fixture) }
  }

  @Test("free slots are borrowed for more connections, and given back")
  func lends() async throws {
    let fixture = try Fixture(sizes: [26 << 20])
    let lender = TwoSlots()
    let service = fixture.service(bucket(), now: Self.now)
    service.borrow(from: lender)
    let session = try service.session(for: fixture.task)
    _ = try await session.upload(fixture.task.resources[0], of: fixture.task) { _ in }
    #expect(try stored(fixture) == .sample(26 << 20, seed: 0))
    #expect(lender.state.withLock { $0.taken } > 0 && lender.state.withLock { $0.out } == 0)
  }
}
