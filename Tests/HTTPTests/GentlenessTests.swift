import Foundation
import Glibc
import Platform
import TaskTestSupport
import Testing

@testable import HTTP

@Suite("Hosts that ask to be left alone")
struct HostHoldsTests {
  @Test("a host is held until its time, others are not, and the later of two wishes counts")
  func hold() {
    var holds = HostHolds()
    holds.hold("https://a:443", forMs: 3_000, nowMs: 100)
    holds.hold("https://a:443", forMs: 1_000, nowMs: 200)
    #expect(holds.restMs(of: "https://a:443", nowMs: 100) == 3_000)
    #expect(holds.restMs(of: "https://a:8443", nowMs: 100) == nil)
    #expect(holds.restMs(of: "https://a:443", nowMs: 3_099) == 1)
    #expect(holds.restMs(of: "https://a:443", nowMs: 3_100) == nil)
  }

  @Test("no server silences a sender for longer than the settings let it")
  func longest() async throws {
    let client = HTTPClient(HTTPClient.Settings(longestHoldMs: 60_000))
    client.hold("http://127.0.0.1:1", forMs: .max)
    let found = await error { try await client.send(HTTPRequest("GET", url: "http://127.0.0.1:1/")) }
    #expect(found?.code == .held)
    #expect((1...60_000).contains(found?.retryAfterMs ?? 0))
  }

  @Test("429, 503 and 413 with Retry-After hold the host for every request", arguments: [429, 503, 413])
  func held(_ status: Int) async throws {
    let server = try TestServer()
    let client = HTTPClient()
    try server.rules(#"[{"match":"/a","status":\#(status),"headers":{"retry-after":"30"}}]"#)
    #expect(try await client.send(HTTPRequest("PUT", url: server.url + "/a")).status == status)
    let found = await error { try await client.send(HTTPRequest("GET", url: server.url + "/b")) }
    #expect(found?.code == .held)
    #expect(found?.requestMayHaveArrived == false)
    #expect((25_000...30_000).contains(found?.retryAfterMs ?? 0))
    #expect(found?.origin == HTTPRequest("GET", url: server.url).origin)
    #expect(try server.log().map(\.path) == ["/a"])
    // Another host goes on.
    let other = try TestServer()
    #expect(try await client.send(HTTPRequest("PUT", url: other.url + "/b")).status == 201)
  }

  @Test(
    "an answer that speaks for one resource, or names no time, holds nobody",
    arguments: [(423, "30"), (202, "30"), (503, "soon"), (503, "0"), (503, "Fri, 01 Jan 1999 00:00:00 GMT")])
  func notHeld(_ status: Int, _ value: String) async throws {
    let server = try TestServer()
    let client = HTTPClient()
    try server.rules(#"[{"match":"/a","status":\#(status),"headers":{"Retry-After":"\#(value)"}}]"#)
    #expect(try await client.send(HTTPRequest("PUT", url: server.url + "/a")).status == status)
    #expect(try await client.send(HTTPRequest("PUT", url: server.url + "/b")).status == 201)
  }

  @Test("behind a redirect both hosts are held: who was asked leads there again")
  func redirected() async throws {
    let (first, second) = (try TestServer(), try TestServer())
    let client = HTTPClient()
    try first.rules(#"[{"match":"/a","status":307,"headers":{"Location":"\#(second.url)/a"}}]"#)
    try second.rules(#"[{"match":"/a","status":503,"headers":{"Retry-After":"30"}}]"#)
    _ = try await client.send(HTTPRequest("PUT", url: first.url + "/a"))
    for url in [first.url, second.url] {
      #expect(await error { try await client.send(HTTPRequest("PUT", url: url + "/b")) }?.code == .held)
    }
  }

  @Test("what a dead engine knew can be told to a new client")
  func resumed() async throws {
    let server = try TestServer()
    let client = HTTPClient()
    client.hold(try #require(HTTPRequest("GET", url: server.url).origin), forMs: 60_000)
    #expect(await error { try await client.send(HTTPRequest("GET", url: server.url + "/")) }?.code == .held)
    #expect(try server.log().isEmpty)
  }
}

@Suite("The rate limit")
struct RateTests {
  @Test("no more goes out than the time allows, and nothing bursts out after a pause")
  func bucket() {
    var bucket = TokenBucket(rate: 100_000, nowMs: 0)
    var sent: Int64 = 0
    for now in stride(from: Int64(0), through: 2_000, by: 7) {
      let count = bucket.available(nowMs: now)
      bucket.spend(Int(count))
      sent += count
    }
    #expect((195_000...200_000).contains(sent))
    #expect(bucket.available(nowMs: 3_600_000) == 10_000)
  }

  @Test("a pause ends when a quantum may go out")
  func pause() {
    var bucket = TokenBucket(rate: 1_000, nowMs: 0)
    #expect(bucket.available(nowMs: 0) == 0)
    #expect(bucket.waitMs() == 1_024)
    #expect(bucket.available(nowMs: 1_024) == 1_024)
    #expect(bucket.waitMs() == 0)
  }

  @Test("no limit is no limit, and a limit can be set while it runs")
  func unlimited() {
    var bucket = TokenBucket(rate: 0, nowMs: 0)
    #expect(bucket.available(nowMs: 0) == .max)
    bucket.spend(5_000_000)
    bucket.setRate(10_240, nowMs: 100)
    #expect(bucket.available(nowMs: 150) == 512)
    bucket.setRate(0, nowMs: 200)
    #expect(bucket.available(nowMs: 200) == .max)
  }

  @Test("files that go up together keep to the limit, arrive whole, and are not taken for stalled")
  func files() async throws {
    let folder = try TemporaryFolder()
    let server = try TestServer()
    let client = HTTPClient(HTTPClient.Settings(bytesPerSecond: 400_000))
    let path = try folder.write(.sample(100_000), to: "body")
    let url = server.url
    let began = SystemTime.monotonicMs()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<3 {
        group.addTask {
          let body = FileBody(try OpenFile(path: path, flags: O_RDONLY), length: 100_000)
          var request = HTTPRequest("PUT", url: "\(url)/\(number)", body: .file(body))
          request.stallTimeoutMs = 150
          #expect(try await client.send(request).status == 201)
        }
      }
      try await group.waitForAll()
    }
    // A lower bound can't fail on a slow machine: faster would be wrong.
    #expect(SystemTime.monotonicMs() - began >= 700)
    let log = try server.log()
    #expect(log.map(\.size) == [100_000, 100_000, 100_000])
    #expect(Set(log.map(\.md5)).count == 1)
  }

  @Test("lifting the limit lets a held-back file go at once")
  func lifted() async throws {
    let folder = try TemporaryFolder()
    let server = try TestServer()
    let client = HTTPClient(HTTPClient.Settings(bytesPerSecond: 1_024))
    let path = try folder.write(.sample(8_000_000), to: "body")
    let body = FileBody(try OpenFile(path: path, flags: O_RDONLY), length: 8_000_000)
    let (signal, begun) = AsyncStream<Void>.makeStream()
    let (url, upload) = (server.url, body)
    // At that rate it would take two hours.
    let task = Task {
      try await client.send(HTTPRequest("PUT", url: url + "/a", body: .file(upload))) { _ in begun.yield() }
    }
    for await _ in signal { break }
    client.update(HTTPClient.Settings())
    #expect(try await task.value.status == 201)
  }

  @Test("a small request in memory is not slowed")
  func small() async throws {
    let server = try TestServer()
    let client = HTTPClient(HTTPClient.Settings(bytesPerSecond: 1))
    let request = HTTPRequest("POST", url: server.url + "/a", body: .data(Array(repeating: 1, count: 50_000)))
    #expect(try await client.send(request).status == 200)
  }
}
