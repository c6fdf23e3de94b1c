import Foundation
import Glibc
import HTTP
import JSON
import TaskConfig
import TaskModel
import TaskTestSupport
import Testing

@testable import Delivery

@Suite("Delivery into a journal")
struct JournalTests {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func service(_ path: String) -> DeliveryService {
    var config = Config()
    config.destinations["d"] = Destination(credential: .directory(path: "/"), delivery: .journal(path: path))
    return DeliveryService(config: CurrentConfig(config), http: HTTPClient(), frontEnds: NoFrontEnds(), now: { 77 })
  }

  private func deliver(_ id: String, _ mode: DeliveryMode = .send) async throws {
    _ = try await service(folder("deep/er/sent.jsonl")).deliver(sampleTask(id: id), mode: mode)
  }

  private func ids() throws -> [String] {
    let text = String(decoding: try folder.read("deep/er/sent.jsonl"), as: UTF8.self)
    #expect(text.hasSuffix("\n"))
    return try text.split(separator: "\n").map { try JSONParser.parse(String($0))["taskId"]?.string ?? "" }
  }

  private func append(_ text: String) throws {
    let handle = try #require(FileHandle(forWritingAtPath: folder("deep/er/sent.jsonl")))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
  }

  @Test("a line is the delivery's body and when it was written; folders are made")
  func line() async throws {
    try await deliver("a")
    var expected = DeliveryBody.json(sampleTask(id: "a"))
    expected["at"] = 77
    #expect(try folder.read("deep/er/sent.jsonl") == Data(JSONWriter.bytes(.object(expected)) + [0x0A]))
  }

  @Test("lines keep their order, and a resend adds none that is there")
  func resend() async throws {
    try await deliver("a")
    try await deliver("b")
    try await deliver("a", .resend)
    try await deliver("c", .resend)
    try await deliver("c", .resend)
    #expect(try ids() == ["a", "b", "c"])
  }

  @Test("an id within somebody's payload is not that task's line")
  func payload() async throws {
    try await deliver("a")
    try append(#"{"taskId":"x","payload":{"taskId":"b"},"note":"b"}"# + "\n")
    try await deliver("b", .resend)
    #expect(try ids() == ["a", "x", "b"])
  }

  @Test("a torn last line is cut off, and does not count as delivered", arguments: [DeliveryMode.send, .resend])
  func torn(_ mode: DeliveryMode) async throws {
    try await deliver("a")
    try append(#"{"taskId":"b","account":"me"#)
    try await deliver("b", mode)
    #expect(try ids() == ["a", "b"])
  }

  @Test("a torn line longer than a read, in a file without any newline, is cut off too")
  func longTorn() async throws {
    try await deliver("a")
    try Data(repeating: 0x78, count: 700_000).write(to: URL(fileURLWithPath: folder("deep/er/sent.jsonl")))
    try await deliver("b", .resend)
    #expect(try ids() == ["b"])
  }

  @Test("a line is found in a journal longer than a read")
  func longJournal() async throws {
    try await deliver("first")
    try append(
      String(repeating: #"{"taskId":"filler","x":"\#(String(repeating: "y", count: 990))"}"# + "\n", count: 900))
    try await deliver("last")
    try await deliver("first", .resend)
    try await deliver("last", .resend)
    let found = try ids()
    #expect(found.count == 902)
    #expect(found.last == "last")
  }

  @Test("many at once all come in whole")
  func parallel() async throws {
    let service = service(folder("deep/er/sent.jsonl"))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<50 {
        group.addTask { _ = try await service.deliver(sampleTask(id: "t\(number)"), mode: .send) }
      }
      try await group.waitForAll()
    }
    #expect(Set(try ids()).count == 50)
  }

  @Test("a canceled delivery writes nothing")
  func canceled() async throws {
    try await deliver("a")
    let service = service(folder("deep/er/sent.jsonl"))
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await service.deliver(sampleTask(id: "b"), mode: .send)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try ids() == ["a"])
  }

  @Test("another process that holds the lock is waited for, and a cancel ends the wait")
  func locked() async throws {
    try await deliver("a")
    let other = open(folder("deep/er/sent.jsonl"), O_RDWR)
    defer { close(other) }
    #expect(flock(other, LOCK_EX) == 0)
    let service = service(folder("deep/er/sent.jsonl"))
    let task = Task { try await service.deliver(sampleTask(id: "b"), mode: .send) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    let waiting = Task { try await service.deliver(sampleTask(id: "c"), mode: .send) }
    flock(other, LOCK_UN)
    _ = try await waiting.value
    #expect(try ids() == ["a", "c"])
  }

  /// Wants a file system of 1 MiB, as of `mount -t tmpfs -o size=1m`, at the path in TASKCENTER_SMALL_DISK.
  @Test(
    "a full disk is named, and leaves no torn line",
    .enabled(if: ProcessInfo.processInfo.environment["TASKCENTER_SMALL_DISK"] != nil))
  func diskFull() async throws {
    let disk = try #require(ProcessInfo.processInfo.environment["TASKCENTER_SMALL_DISK"])
    let path = disk + "/sent.jsonl"
    defer { unlink(path) }
    var task = sampleTask(id: "big")
    task.payload = ["text": .string(String(repeating: "x", count: 2_000_000))]
    let big = task
    _ = try await service(path).deliver(sampleTask(id: "a"), mode: .send)
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let found = await failure { try await service(path).deliver(big, mode: .send) }
    #expect(found?.code == .diskFull && found?.outcomeUnknown == false)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
  }

  @Test("a place that is no file is a failure that says so")
  func noFile() async throws {
    let found = await failure { try await service(folder.path).deliver(sampleTask(), mode: .send) }
    #expect(found?.code == .unavailable)
    #expect(found?.outcomeUnknown == false)
  }
}
