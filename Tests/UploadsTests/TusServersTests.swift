import Foundation
import HTTP
import JSON
import TaskModel
import TaskTestSupport
import Testing

@testable import Uploads

/// The same uploads against tus servers of other people, behind a proxy that breaks them.
@Suite("Uploads by tus to real servers", .serialized)
struct TusServersTests {
  enum Kind: String, CaseIterable, CustomTestStringConvertible {
    case tuspyserver, seaweedFS
    var testDescription: String { rawValue }
  }

  private final class Bench {
    let fixture: Fixture
    let proxy: FlakyProxy
    let issuer: TestServer
    let memory = TestMemory()
    let folder: TemporaryFolder
    private let server: ServerProcess?
    private let endpoint: String
    private let publicUrl: String?

    init(_ kind: Kind, size: Int, rule: String) throws {
      fixture = try Fixture(sizes: [size])
      folder = try TemporaryFolder()
      issuer = try TestServer()
      switch kind {
      case .tuspyserver:
        let server = try ServerProcess("start-tus.sh", [folder("tus")])
        self.server = server
        proxy = try FlakyProxy(targetPort: server.port, rule: rule)
        endpoint = proxy.url + "/files"
        publicUrl = nil
      case .seaweedFS:
        let weed = try WeedServer.running()
        server = nil
        proxy = try FlakyProxy(targetPort: weed.filerPort, rule: rule)
        let name = "tus-\(UUID().uuidString).jpg"
        endpoint = "\(proxy.url)/.tus/buckets/media/\(name)"
        publicUrl = "http://127.0.0.1:\(weed.filerPort)/buckets/media/\(name)"
      }
    }

    func upload() async throws -> UploadResult {
      var credential: JSONObject = ["protocol": "tus", "endpoint": .string(endpoint)]
      credential["publicUrl"] = publicUrl.map(JSONValue.string)
      try issuer.issue(credential)
      let session = try fixture.service(issuer.credentialSource, partSize: 4 << 20).session(for: fixture.task)
      return try await session.upload(fixture.task.resources[0], of: fixture.task, memory: memory) { _ in }
    }

    /// What is stored in the end.
    func object(_ result: UploadResult) throws -> Data {
      if let publicUrl { return try Curl.fetch(publicUrl) }
      let id = result.url.split(separator: "/").last.map(String.init) ?? ""
      return try folder.read("tus/\(id)")
    }
  }

  @Test("a file goes up whole", arguments: Kind.allCases, [0, 5_000, 9_000_000])
  func whole(_ kind: Kind, _ size: Int) async throws {
    let bench = try Bench(kind, size: size, rule: "match=never")
    let result = try await bench.upload()
    #expect(try bench.object(result) == bench.fixture.folder.read("export-0"))
    #expect(result.etag == nil)
    // A server may close a kept connection just when the next piece goes out.
    #expect(try (size...size + 4 << 20).contains(bench.proxy.bodyBytes()))
  }

  @Test(
    "after a fault it goes on, and no more than one piece goes again", arguments: Kind.allCases,
    ["cut=3000000", "reset=3000000", "eatreply=1"])
  func faults(_ kind: Kind, _ fault: String) async throws {
    let bench = try Bench(kind, size: 14_000_000, rule: "match=PATCH,skip=1,\(fault)")
    var result: UploadResult?
    for _ in 0..<20 where result == nil {
      do {
        result = try await bench.upload()
      } catch let failure as Failure {
        // A lock of the broken request may still be held.
        #expect(failure.remedy == .retry, "\(failure)")
        if failure.httpStatus == 423 { try await Task.sleep(for: .seconds(1)) }
      }
    }
    let done = try #require(result)
    #expect(try bench.object(done) == bench.fixture.folder.read("export-0"))
    #expect(try bench.proxy.bodyBytes() <= 14_000_000 + 4 << 20)
  }

  @Test("what nobody will finish is gone from the server", arguments: Kind.allCases)
  func abandoned(_ kind: Kind) async throws {
    let bench = try Bench(kind, size: 14_000_000, rule: "match=PATCH,skip=1,cut=100000,times=0")
    await #expect(throws: Failure.self) { _ = try await bench.upload() }
    let state = try #require(bench.memory.saved)
    let service = bench.fixture.service(bench.issuer.credentialSource)
    var isDone = false
    for _ in 0..<20 where !isDone {
      do {
        try await service.abandon(state, destination: "d")
        isDone = true
      } catch let failure as Failure where failure.httpStatus == 423 {
        try await Task.sleep(for: .seconds(1))
      }
    }
    let url = try #require(state["uploadUrl"]?.string)
    let head = try await HTTPClient().send(
      HTTPRequest("HEAD", url: url, headers: [HTTPHeader("Tus-Resumable", "1.0.0")]))
    #expect(head.status == 404 || head.status == 410)
  }
}
