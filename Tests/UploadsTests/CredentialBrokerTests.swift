import JSON
import Synchronization
import TaskModel
import TaskTestSupport
import Testing

@testable import Uploads

/// Answers requests with one credential for each resource that they name, and remembers them.
private final class Issuer: Sendable {
  private let state = Mutex<[[Int]]>([])
  var asked: [[Int]] { state.withLock { $0 } }

  func answer(_ request: CredentialRequest) -> CredentialAnswer {
    state.withLock { $0.append(request.indexes.sorted()) }
    let uploads = request.indexes.map { ($0, UploadCredential.unknown("protocol-of-\($0)")) }
    return CredentialAnswer(expiresAt: nil, uploads: Dictionary(uniqueKeysWithValues: uploads))
  }
}

@Suite("One credential request for what is ready")
struct CredentialBrokerTests {
  private let issuer = Issuer()

  private func broker(_ clock: any TaskModel.Clock) -> CredentialBroker {
    let issuer = issuer
    return CredentialBroker(clock: clock) { issuer.answer($0) }
  }

  /// A task of which the first `exported` resources are exported.
  private func task(_ count: Int, exported: Int) -> SendTask {
    var resources: [Resource] = []
    for index in 0..<count {
      var resource = Resource(
        index: index, role: .image, source: .path("/x"), name: "x", sourceMime: "image/png", identity: nil)
      if index < exported {
        resource.export = ExportedFile(file: "f", mime: "image/jpeg", size: 1, md5: "m", sha256: "s")
        resource.state = .exported
      }
      resources.append(resource)
    }
    return SendTask(
      id: "t", account: "a", kind: .message, lane: "chat", destination: "d", state: .exporting, urgency: .normal,
      resources: resources, createdAt: 0)
  }

  @Test("exports that end while the first upload wants its credential are named in the same request")
  func gathers() async throws {
    // The clock never ends the wait: only the last export does.
    let broker = broker(StillClock(time: 0))
    await broker.note(task(3, exported: 1))
    let first = Task { try await broker.issue(for: 0, of: task(3, exported: 1)) }
    await broker.note(task(3, exported: 2))
    await broker.note(task(3, exported: 3))
    #expect(try await first.value.credential == .unknown("protocol-of-0"))
    _ = try await broker.issue(for: 2, of: task(3, exported: 3))
    #expect(issuer.asked == [[0, 1, 2]])
  }

  @Test("an export that takes long holds nobody up and is asked for later, alone")
  func laterExport() async throws {
    let broker = broker(HastyClock())
    await broker.note(task(2, exported: 1))
    _ = try await broker.issue(for: 0, of: task(2, exported: 1))
    await broker.note(task(2, exported: 2))
    #expect(try await broker.issue(for: 1, of: task(2, exported: 2)).credential == .unknown("protocol-of-1"))
    #expect(issuer.asked == [[0], [1]])
  }

  @Test(
    "a credential is renewed before it expires, and one of a short life is used first",
    arguments: [(900_000, 889_000, false), (900_000, 891_000, true), (4_000, 2_000, false), (4_000, 3_500, true)]
      as [(Int64, Int64, Bool)])
  func expiry(_ life: Int64, _ age: Int64, _ isExpiring: Bool) async throws {
    let broker = CredentialBroker(clock: StillClock(time: age)) { _ in CredentialAnswer(uploads: [:]) }
    let issue = CredentialBroker.Issue(generation: 1, credential: nil, expiresAt: life, issuedAt: 0)
    #expect(await broker.isExpiring(issue) == isExpiring)
  }

  @Test("what is not exported is no reason to ask again and again")
  func notExported() async throws {
    let broker = broker(HastyClock())
    await #expect(throws: Failure.self) { try await broker.issue(for: 1, of: task(2, exported: 1)) }
  }
}

/// Every sleep is over at once.
private struct HastyClock: TaskModel.Clock {
  func now() -> Int64 { 0 }
  func sleep(milliseconds: Int64) async throws {}
}
