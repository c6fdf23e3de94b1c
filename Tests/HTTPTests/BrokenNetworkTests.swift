import Foundation
import Glibc
import HTTP
import Platform
import TaskTestSupport
import Testing

@Suite("The HTTP client on a broken network")
struct BrokenNetworkTests {
  let folder: TemporaryFolder
  let server: TestServer
  let client = HTTPClient()

  init() throws {
    folder = try TemporaryFolder()
    server = try TestServer()
  }

  private func request(_ url: String, size: Int = 20_000_000) throws -> HTTPRequest {
    let path = try folder.write(.sample(size), to: "body")
    let body = FileBody(try OpenFile(path: path, flags: O_RDONLY), length: Int64(size))
    var request = HTTPRequest("PUT", url: url + "/a", body: .file(body))
    request.stallTimeoutMs = 300
    return request
  }

  @Test("a connection cut in the middle is lost, and the request may have arrived", arguments: ["cut", "reset"])
  func cut(_ how: String) async throws {
    let proxy = try FlakyProxy(targetPort: server.port, rule: "\(how)=3000000")
    let request = try request(proxy.url)
    let found = await error { try await client.send(request) }
    #expect(found?.code == .connectionLost)
    #expect(found?.requestMayHaveArrived == true)
    #expect(found?.isOffline == false)
    #expect(try proxy.bodyBytes() == 3_000_000)
    #expect(try await client.send(request).status == 201)
  }

  private static let ends = ["cut=0", "cut=3000000", "reset=3000000", "eatreply=1"]

  @Test("where a kept connection ends before any answer the request goes again on a fresh one, once", arguments: ends)
  func keptConnection(_ end: String) async throws {
    let proxy = try FlakyProxy(targetPort: server.port, rule: "skip=1,\(end)")
    let request = try request(proxy.url)
    for _ in 0..<2 { #expect(try await client.send(request).status == 201) }
    #expect(try proxy.requests() == 3)
    try proxy.rules("times=0,\(end)")
    let found = await error { try await client.send(request) }
    #expect(found?.code == .connectionLost && found?.keptConnectionDied == false)
    #expect(try proxy.requests() == 5)
  }

  @Test(
    "a request that is not repeatable fails there, and says so where its beginning met a dead connection",
    arguments: [
      ("cut=0", 500_000, true), ("cut=300000", 500_000, true), ("reset=300000", 500_000, true),
      ("eatreply=1", 500_000, true), ("cut=3000000", 20_000_000, false),
    ])
  func notRepeatable(_ end: String, _ size: Int, _ isEarly: Bool) async throws {
    let proxy = try FlakyProxy(targetPort: server.port, rule: "skip=1,\(end)")
    var request = try request(proxy.url, size: size)
    request.isRepeatable = false
    _ = try await client.send(request)
    let found = await error { try await client.send(request) }
    #expect(found?.code == .connectionLost && found?.keptConnectionDied == isEarly)
    #expect(found?.requestMayHaveArrived == true)
    #expect(try proxy.requests() == 2)
  }

  @Test("a stall in the middle of the body is noticed by our own clock")
  func stall() async throws {
    let proxy = try FlakyProxy(targetPort: server.port, rule: "stall=2000000")
    let request = try request(proxy.url)
    #expect(await error { try await client.send(request) }?.code == .stalled)
  }

  @Test("a server that is silent after the body has stalled too")
  func silent() async throws {
    try server.rules(#"[{"match":"PUT","hang":true}]"#)
    let request = try request(server.url, size: 10)
    let found = await error { try await client.send(request) }
    #expect(found?.code == .stalled)
    #expect(found?.requestMayHaveArrived == true)
  }

  @Test("an answer that trickles in without end is given up, though something always moves", .timeLimit(.minutes(10)))
  func trickle() async throws {
    try server.rules(#"[{"match":"PUT","trickle":true}]"#)
    var request = try request(server.url, size: 10)
    request.stallTimeoutMs = 100
    let found = await error { try await client.send(request) }
    #expect(found?.code == .timedOut)
    #expect(found?.requestMayHaveArrived == true)
  }

  @Test("a page without end in place of an answer leaves its status, and for a success nothing")
  func longPages() async throws {
    try server.rules(
      #"[{"match":"PUT","status":502,"body":"page","repeat":500000},{"match":"PUT","body":"page","repeat":500000}]"#)
    var patient = try request(server.url, size: 10)
    patient.stallTimeoutMs = 20_000
    let request = patient
    let answer = try await client.send(request)
    #expect(answer.status == 502 && answer.body.isEmpty)
    #expect(await error { try await client.send(request) }?.code == .responseTooLarge)
  }

  @Test("an answer that was compressed though nobody asked is read, and a bomb is bounded")
  func compressed() async throws {
    try server.rules(
      #"[{"match":"PUT","body":"hello","gzip":true},{"match":"PUT","body":"bomb","repeat":500000,"gzip":true}]"#)
    var patient = try request(server.url, size: 10)
    patient.stallTimeoutMs = 20_000
    let request = patient
    #expect(String(decoding: try await client.send(request).body, as: UTF8.self) == "hello")
    #expect(try server.log().first?.headers["accept-encoding"] == "identity")
    #expect(await error { try await client.send(request) }?.code == .responseTooLarge)
  }

  @Test("a slow link is not a stall, though it takes longer than the stall timeout")
  func slow() async throws {
    // Larger than what the kernels on the way keep, so that most of it has to wait for the link.
    let proxy = try FlakyProxy(targetPort: server.port, rule: "rate=12000000")
    var request = try request(proxy.url, size: 24_000_000)
    request.stallTimeoutMs = 1_500
    #expect(try await client.send(request).status == 201)
  }

  @Test("a lost answer says that the request may have arrived, and it has")
  func lostAnswer() async throws {
    let proxy = try FlakyProxy(targetPort: server.port, rule: "eatreply=1")
    let request = try request(proxy.url, size: 1_000)
    let found = await error { try await client.send(request) }
    #expect(found?.code == .connectionLost)
    #expect(found?.requestMayHaveArrived == true)
    #expect(try server.log().count == 1)
  }

  @Test("the total timeout ends what still moves")
  func total() async throws {
    let proxy = try FlakyProxy(targetPort: server.port, rule: "rate=10000")
    var request = try request(proxy.url, size: 1_000_000)
    request.stallTimeoutMs = 60_000
    request.totalTimeoutMs = 400
    #expect(await error { try await client.send(request) }?.code == .timedOut)
  }

  @Test("nginx takes a file, by TLS with its own authority and not without")
  func nginx() async throws {
    let nginx = try ServerProcess("start-nginx.sh", [folder("nginx")])
    #expect(try await client.send(try request("http://127.0.0.1:\(nginx.words[0])/put")).status == 201)
    #expect(try folder.read("nginx/store/a") == .sample(20_000_000))
    let secure = HTTPClient(HTTPClient.Settings(caFile: folder("nginx/ca.crt")))
    #expect(try await secure.send(try request("https://localhost:\(nginx.words[1])/put")).status == 204)
    let untrusted = try request("https://localhost:\(nginx.words[1])/put")
    let found = await error { try await client.send(untrusted) }
    #expect(found?.code == .tlsUntrusted)
    #expect(found?.requestMayHaveArrived == false)
    #expect(try await secure.send(try request("https://localhost:\(nginx.words[1])/moved307")).status == 204)
    #expect(try await client.send(try request("http://127.0.0.1:\(nginx.words[0])/small")).status == 413)
  }
}
