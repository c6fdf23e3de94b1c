import ExportProtocol
import Foundation
import Platform
import TaskTestSupport
import Testing

@testable import Exports

@Suite("Warm workers")
struct WorkerPoolTests {
  private let folder: TemporaryFolder
  private let picture: String

  init() throws {
    folder = try TemporaryFolder()
    picture = folder("picture.png")
    _ = try Command.run(
      "ffmpeg", ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x48:duration=1", "-frames:v", "1", picture])
  }

  private func probe(_ pool: WorkerPool) async throws {
    let order = ExportOrder(id: 1, job: .probe, name: "picture.png", output: "")
    _ = try await pool.run(
      order, input: try OpenFile(path: picture, flags: O_RDONLY), timeoutMs: 60_000, progress: { _ in })
  }

  @Test("one that is not needed any more is let go, although the other goes on working", .timeLimit(.minutes(10)))
  func rest() async throws {
    let pool = WorkerPool(
      WorkerPool.Settings(
        program: try Programs.path("taskcenter-export"), folder: folder.path, memoryLimit: 1 << 31, tellsLacks: false,
        patienceMs: 1_000))
    while pool.idleWorkers < 2 {
      async let first: Void = probe(pool)
      async let second: Void = probe(pool)
      _ = try await (first, second)
    }
    while pool.idleWorkers > 1 { try await probe(pool) }
    try await probe(pool)
    #expect(pool.idleWorkers == 1)
  }
}
