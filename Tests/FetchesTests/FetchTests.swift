import Fetches
import Foundation
import HTTP
import TaskConfig
import TaskModel
import TaskTestSupport
import Testing

/// A file on a server that does what it is told, and the service under test.
private final class Fetching {
  let folder: TemporaryFolder
  let server: ServerProcess
  var config = Config()
  var url: String { server.url + "/album/a.gif?token=secret" }

  init() throws {
    folder = try TemporaryFolder()
    server = try ServerProcess("file_server.py")
    try set(["text": "GIF89a0123456789", "repeat": 20_000])
  }

  func set(_ values: [String: Any]) throws {
    let data = try JSONSerialization.data(withJSONObject: values)
    try server.set(String(decoding: data, as: UTF8.self))
  }

  func log() throws -> [[String: Any]] { try server.log() }

  func statuses() throws -> [Int] { try log().compactMap { $0["status"] as? Int } }

  /// A service of its own each time, as after a restart.
  var service: FetchService { FetchService(folder: folder.path, config: CurrentConfig(config), http: HTTPClient()) }

  func task(role: ResourceRole = .image) -> SendTask {
    let resource = Resource(
      index: 0, role: role, source: .url(url, file: nil), name: "a.gif", sourceMime: "", identity: nil)
    return SendTask(
      id: "0190-task-1", account: "me", kind: .message, lane: "chat", destination: "d", state: .exporting,
      urgency: .normal, resources: [resource], createdAt: 0)
  }

  func fetch(role: ResourceRole = .image) async throws -> SourceRefresh {
    let task = task(role: role)
    return try await service.fetch(task.resources[0], of: task)
  }

  func failure(role: ResourceRole = .image) async -> Failure? {
    await TaskTestSupport.failure { try await fetch(role: role) }
  }

  func content(_ found: SourceRefresh) throws -> String {
    String(decoding: try folder.read(try #require(found.source.file)), as: UTF8.self)
  }

  func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
}

@Suite("Sources from a URL", .serialized)
struct FetchTests {
  private let fetching: Fetching

  init() throws { fetching = try Fetching() }

  private func text(_ word: String = "GIF89a0123456789") -> String { String(repeating: word, count: 20_000) }

  @Test("a file comes into the store whole, with its type and size, and nothing is left beside it")
  func whole() async throws {
    let found = try await fetching.fetch()
    #expect(found.mime == "image/gif")
    #expect(found.identity?.size == 320_000)
    #expect(try fetching.content(found) == text())
    #expect(try fetching.files() == [found.source.file])
    let attributes = try FileManager.default.attributesOfItem(atPath: fetching.folder(try #require(found.source.file)))
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test("after a cut only the rest is fetched, also by another engine")
  func resumes() async throws {
    try fetching.set(["cut": 200_000])
    #expect(await fetching.failure()?.isPermanent == false)
    let found = try await fetching.fetch()
    #expect(try fetching.content(found) == text())
    let log = try fetching.log()
    #expect(log.map { $0["status"] as? Int } == [200, 206])
    #expect(log[1]["range"] as? String == "bytes=200000-")
    #expect(log[1]["ifRange"] as? String == "\"one\"")
  }

  @Test("another version starts over, whether or not the server knows If-Range", arguments: [true, false])
  func changed(_ knowsIfRange: Bool) async throws {
    try fetching.set(["cut": 200_000, "ifRange": knowsIfRange])
    _ = await fetching.failure()
    try fetching.set(["etag": "\"two\"", "text": "GIF89aabcdefghij"])
    #expect(try fetching.content(try await fetching.fetch()) == text("GIF89aabcdefghij"))
  }

  @Test("a version without a name is never gone on with", arguments: ["", "W/\"one\""])
  func nameless(_ etag: String) async throws {
    try fetching.set(["cut": 200_000, "etag": etag])
    _ = await fetching.failure()
    try fetching.set(["text": "GIF89aabcdefghij"])
    #expect(try fetching.content(try await fetching.fetch()) == text("GIF89aabcdefghij"))
    #expect(try fetching.statuses() == [200, 200])
  }

  @Test("a server without ranges sends everything again")
  func noRanges() async throws {
    try fetching.set(["cut": 200_000, "ranges": false])
    _ = await fetching.failure()
    #expect(try fetching.content(try await fetching.fetch()) == text())
  }

  @Test("a part as long as the file, or longer, starts over")
  func shrunk() async throws {
    try fetching.set(["cut": 200_000])
    _ = await fetching.failure()
    try fetching.set(["text": "GIF89a-short", "repeat": 1])
    #expect(try fetching.content(try await fetching.fetch()) == "GIF89a-short")
    #expect(try fetching.statuses() == [200, 416, 200])
  }

  @Test("bytes whose version nobody noted are dropped")
  func noNote() async throws {
    try fetching.set(["cut": 200_000])
    _ = await fetching.failure()
    try FileManager.default.removeItem(atPath: fetching.folder("part-0190-task-1-0.tag"))
    #expect(try fetching.content(try await fetching.fetch()) == text())
    #expect(try fetching.statuses() == [200, 200])
  }

  @Test("what is larger than allowed is refused, by its promise or while it comes", arguments: [true, false])
  func tooLarge(_ saysLength: Bool) async throws {
    fetching.config.sources.maxBytes = 319_999
    try fetching.set(["length": saysLength])
    let failure = await fetching.failure()
    #expect(failure?.code == .tooLarge)
    #expect(failure?.isPermanent == true)
    #expect(try fetching.files() == [])
  }

  @Test(
    "refusals have the words of sources, and what may pass is tried again",
    arguments: [
      (404, FailureCode.sourceMissing, true), (410, .sourceMissing, true), (401, .sourceUnreadable, true),
      (403, .sourceUnreadable, true), (400, .sourceUnreadable, true), (503, .unavailable, false),
      (429, .unavailable, false),
    ])
  func refused(_ status: Int, _ code: FailureCode, _ isPermanent: Bool) async throws {
    try fetching.set(["status": status])
    let failure = try #require(await fetching.failure())
    #expect(failure.code == code)
    #expect(failure.isPermanent == isPermanent)
    #expect(failure.httpStatus == status)
    #expect(!failure.message.contains("secret"))
  }

  @Test("redirects are followed as a browser does", arguments: [301, 302, 303, 307, 308])
  func redirected(_ status: Int) async throws {
    try fetching.set(["status": status, "location": "/elsewhere"])
    #expect(try fetching.content(try await fetching.fetch()) == text())
    #expect(try fetching.log().map { $0["path"] as? String } == ["/album/a.gif?token=secret", "/elsewhere"])
  }

  @Test("what was fetched must be what the task needs")
  func wrongType() async throws {
    let failure = await fetching.failure(role: .audio)
    #expect(failure?.code == .unsupported)
    #expect(failure?.message.contains("image/gif") == true)
    try fetching.set(["text": ""])
    #expect(await fetching.failure()?.code == .damaged)
    #expect(try fetching.files() == [])
  }

  @Test("a start keeps what tasks own and their parts, and removes the rest")
  func sweep() async throws {
    for name in ["owned", "orphan", "part-0190-task-1-0", "part-0190-task-1-0.tag", "part-0190-task-2-0"] {
      try fetching.folder.write(Data("x".utf8), to: name)
    }
    fetching.service.sweep(keeping: ["owned"], tasks: ["0190-task-1"])
    #expect(try fetching.files() == ["owned", "part-0190-task-1-0", "part-0190-task-1-0.tag"])
    fetching.service.forget(fetching.task())
    #expect(try fetching.files() == ["owned"])
  }
}

@Suite("Private copies")
struct CopyTests {
  @Test("a copy outlives the file, is for its owner alone, and says what it is")
  func copy() async throws {
    let fetching = try Fetching()
    let other = try TemporaryFolder()
    let path = try other.write(Data("GIF89a".utf8) + .sample(3_000_000), to: "a.gif")
    let content = try other.read("a.gif")
    let found = try await fetching.service.copy(path)
    try FileManager.default.removeItem(atPath: path)
    let file = try #require(found.source.file)
    #expect(found.source == .kept(path: path, file: file))
    #expect(found.mime == "image/gif")
    #expect(found.identity?.size == 3_000_006)
    #expect(try fetching.folder.read(file) == content)
    let attributes = try FileManager.default.attributesOfItem(atPath: fetching.folder(file))
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(fetching.service.has(file))
    fetching.service.remove(file)
    #expect(!fetching.service.has(file))
  }

  @Test("a file that is not there leaves nothing behind")
  func missing() async throws {
    let fetching = try Fetching()
    await #expect(throws: Failure.self) { try await fetching.service.copy("/nowhere/a.gif") }
    #expect(try fetching.files() == [])
  }
}
