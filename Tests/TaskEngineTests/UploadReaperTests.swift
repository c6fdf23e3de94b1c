import JSON
import Synchronization
import TaskModel
import TaskStorage
import TaskTestSupport
import Testing

@testable import TaskEngine

/// Takes everything back but what is called "dead", and tells what it was asked for.
private final class Server: Uploader {
  let asked: AsyncStream<String>
  private let ask: AsyncStream<String>.Continuation

  init() { (asked, ask) = AsyncStream<String>.makeStream() }

  func session(for task: SendTask) throws -> any UploadSession { throw CancellationError() }

  func abandon(_ state: JSONValue, destination: String) async throws {
    ask.yield(state.string ?? "")
    if state.string == "dead" { throw Failure(.unavailable, "503", remedy: .retry) }
  }
}

@Suite("Taking back what nobody will finish")
struct UploadReaperTests {
  @Test("a server that is out of order keeps no other waiting", .timeLimit(.minutes(10)))
  func deadServer() async throws {
    let folder = try TemporaryFolder()
    let store = try TaskStore(path: folder("db"), clock: { 0 }, observer: { _ in })
    let server = Server()
    let reaper = UploadReaper(
      store: store, uploader: server, clock: StillClock(), backoff: RetryPolicy().backoff,
      log: Log(level: .error) { _, _ in })
    var asked = server.asked.makeAsyncIterator()
    try await store.write { try $0.abandon("dead", destination: "d") }
    reaper.wake()
    #expect(await asked.next() == "dead")
    try await store.write { try $0.abandon("good", destination: "d") }
    reaper.wake()
    // Whether the first round was over when the second wish came does not matter: the good one comes next.
    #expect(await asked.next() == "good")
    #expect(await asked.next() == "dead")
    await reaper.stop()
    #expect(try await store.read { try $0.abandonedUploads().map(\.state) } == ["dead"])
  }
}
