import Foundation
import TaskModel
import TaskTestSupport
import Testing

@testable import Uploads

@Suite("Uploads into a directory")
struct DirectoryTests {
  @Test("the object has its place, its bytes and a URL", arguments: [0, 1, 20_000_000])
  func stores(_ size: Int) async throws {
    let fixture = try Fixture(sizes: [size])
    let session = try fixture.service(.directory(path: fixture.folder("out box"))).session(for: fixture.task)
    let result = try await session.upload(fixture.task.resources[0], of: fixture.task) { _ in }
    let folder = fixture.folder("out box") + "/me/feedPost/0190-task"
    #expect(result.uploadProtocol == "directory")
    #expect(result.url == "file://" + fixture.folder.path + "/out%20box/me/feedPost/0190-task/0-my%20photo.jpg")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["0-my photo.jpg"])
    #expect(try fixture.folder.read("out box/me/feedPost/0190-task/0-my photo.jpg") == .sample(size, seed: 0))
  }

  @Test("an upload that is repeated replaces its object and sweeps what a dead one left beside")
  func again() async throws {
    let fixture = try Fixture(sizes: [100, 50])
    let session = try fixture.service(.directory(path: fixture.folder("out"))).session(for: fixture.task)
    let folder = fixture.folder("out/me/feedPost/0190-task")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try fixture.folder.write(Data("torn".utf8), to: "out/me/feedPost/0190-task/.0-dead.part")
    try fixture.folder.write(Data("other's".utf8), to: "out/me/feedPost/0190-task/.1-alive.part")
    for _ in 0..<2 { _ = try await session.upload(fixture.task.resources[0], of: fixture.task) { _ in } }
    #expect(
      Set(try FileManager.default.contentsOfDirectory(atPath: folder)) == ["0-my photo.jpg", ".1-alive.part"])
  }

  @Test("an export that is gone or has another size has to be made again")
  func gone() async throws {
    let fixture = try Fixture(sizes: [10, 10])
    let session = try fixture.service(.directory(path: fixture.folder("out"))).session(for: fixture.task)
    try FileManager.default.removeItem(atPath: fixture.folder("export-0"))
    try fixture.folder.write(Data("short".utf8), to: "export-1")
    for resource in fixture.task.resources {
      let found = await failure { try await session.upload(resource, of: fixture.task) { _ in } }
      #expect(found?.remedy == .restart)
      #expect(found?.resource == resource.index)
    }
  }

  @Test("a canceled upload leaves nothing behind")
  func canceled() async throws {
    let fixture = try Fixture(sizes: [10])
    let session = try fixture.service(.directory(path: fixture.folder("out"))).session(for: fixture.task)
    let task = fixture.task
    let upload = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await session.upload(task.resources[0], of: task) { _ in }
    }
    await #expect(throws: CancellationError.self) { try await upload.value }
    let folder = fixture.folder("out/me/feedPost/0190-task")
    let left = try? FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(left ?? [] == [])
  }

  @Test("a file where the folder should be is a failure that says so")
  func blocked() async throws {
    let fixture = try Fixture(sizes: [10])
    let session = try fixture.service(.directory(path: fixture.folder("export-0"))).session(for: fixture.task)
    let found = await failure { try await session.upload(fixture.task.resources[0], of: fixture.task) { _ in } }
    #expect(found?.code == .unavailable)
    #expect(found?.message.contains("Not a directory") == true)
  }

  /// Wants a file system of 1 MiB, as of `mount -t tmpfs -o size=1m`, at the path in TASKCENTER_SMALL_DISK.
  @Test(
    "a full disk is named, and what was begun is gone",
    .enabled(if: ProcessInfo.processInfo.environment["TASKCENTER_SMALL_DISK"] != nil))
  func diskFull() async throws {
    let disk = try #require(ProcessInfo.processInfo.environment["TASKCENTER_SMALL_DISK"])
    let fixture = try Fixture(sizes: [3_000_000])
    let session = try fixture.service(.directory(path: disk + "/out")).session(for: fixture.task)
    let found = await failure { try await session.upload(fixture.task.resources[0], of: fixture.task) { _ in } }
    #expect(found?.code == .diskFull)
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk + "/out/me/feedPost/0190-task") == [])
  }

  @Test("a destination that the config does not name is a failure")
  func unknownDestination() async throws {
    var fixture = try Fixture(sizes: [10])
    let service = fixture.service(.directory(path: "/x"))
    fixture.task = SendTask(
      id: "t", account: "a", kind: .log, lane: "l", destination: "nowhere", state: .queued, urgency: .normal,
      resources: [], createdAt: 0)
    #expect(throws: Failure.self) { try service.session(for: fixture.task) }
  }
}

@Suite("Safe names")
struct SafeNameTests {
  @Test(
    "a name is one segment",
    arguments: [
      ("a.jpg", "a.jpg"), ("../../etc/passwd", ".._.._etc_passwd"), ("..", "_"), (".", "_"), ("", "_"), ("/", "_"),
      ("a\0b\nc", "a_b_c"), ("日本 é.png", "日本 é.png"), (".hidden", ".hidden"),
    ])
  func segment(_ name: String, _ expected: String) { #expect(SafeName.segment(name) == expected) }

  @Test("a long name is cut before its extension, between characters")
  func long() {
    let name = SafeName.segment(String(repeating: "é", count: 300) + ".jpeg")
    #expect(name.utf8.count == 199)
    #expect(name.hasSuffix("é.jpeg"))
  }
}
