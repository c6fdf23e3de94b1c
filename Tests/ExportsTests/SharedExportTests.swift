import Exports
import Foundation
import TaskConfig
import TaskModel
import TaskTestSupport
import Testing

@Suite("One export for everybody who wants it")
struct SharedExportTests {
  private let folder: TemporaryFolder
  private let picture: String

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder("exports"), withIntermediateDirectories: true)
    picture = folder("picture.png")
    _ = try Command.run(
      "ffmpeg", ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=3000x2000:duration=1", "-frames:v", "1", picture])
  }

  private func service() throws -> ExportService {
    ExportService(
      folder: folder("exports"), sourcesFolder: folder("sources"), program: try Programs.path("taskcenter-export"),
      config: CurrentConfig(Config()))
  }

  private func task(_ id: String, kind: TaskKind = .message) -> SendTask {
    let resource = Resource(
      index: 0, role: .image, source: .path(picture), name: "picture.png", sourceMime: "image/png", identity: nil)
    return SendTask(
      id: id, account: "me", kind: kind, lane: "chat", destination: "local", state: .exporting, urgency: .normal,
      resources: [resource], createdAt: 0)
  }

  private func export(_ service: ExportService, _ task: SendTask) async throws -> ExportedFile {
    try await service.export(task.resources[0], of: task) { _ in }
  }

  private func inode(_ file: ExportedFile) throws -> UInt64 {
    let facts = try FileManager.default.attributesOfItem(atPath: folder("exports/" + file.file))
    return try #require(facts[.systemFileNumber] as? UInt64)
  }

  private var files: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder("exports")) }
  }

  @Test("two tasks that want the same at once get one export, each under a name of its own")
  func atOnce() async throws {
    let service = try service()
    async let first = export(service, task("a"))
    async let second = export(service, task("b"))
    let (a, b) = try await (first, second)
    #expect(a.file != b.file && a.md5 == b.md5 && a.width == b.width)
    #expect(try inode(a) == inode(b), "one was made, the other is a link to it")
    service.remove(a)
    #expect(service.isIntact(b))
    let third = try await export(service, task("c"))
    #expect(try inode(third) == inode(b))
  }

  @Test("another preset of the same source is another export")
  func otherPreset() async throws {
    let service = try service()
    let message = try await export(service, task("a"))
    let avatar = try await export(service, task("b", kind: .avatar))
    #expect(message.key != avatar.key)
    #expect(message.width == 1600 && avatar.width == 640)
  }

  @Test("after a restart a finished export serves other tasks too, while its source is the same in every field")
  func afterRestart() async throws {
    let kept = try await export(try service(), task("a"))
    let next = try service()
    try folder.write(Data(), to: "exports/left-behind.part")
    next.sweep(keeping: [kept])
    #expect(try files == [kept.file])
    let again = try await export(next, task("b"))
    #expect(try inode(again) == inode(kept))
    // The same bytes at another time: only the content's own identity counts, and that has changed.
    try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: picture)
    let other = try await export(next, task("c"))
    #expect(try inode(other) != inode(kept))
  }

  @Test("a cancel of who makes it does not take it from who waits for it")
  func cancelOfTheFirst() async throws {
    let service = try service()
    let first = Task { try await export(service, task("a")) }
    let second = Task { try await export(service, task("b")) }
    first.cancel()
    let file = try await second.value
    #expect(service.isIntact(file))
    if let early = try? await first.value { service.remove(early) }
    #expect(try files == [file.file])
  }
}
