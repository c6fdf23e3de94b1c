import Foundation
import Glibc
import HTTP
import Platform
import Synchronization
import TaskTestSupport
import Testing

@Suite("The HTTP client")
struct HTTPClientTests {
  let folder: TemporaryFolder
  let server: TestServer
  let client = HTTPClient()

  init() throws {
    folder = try TemporaryFolder()
    server = try TestServer()
  }

  private func file(_ size: Int, claimed: Int? = nil) throws -> HTTPBody {
    let path = try folder.write(.sample(size), to: "body-\(size)")
    return .file(FileBody(try OpenFile(path: path, flags: O_RDONLY), length: Int64(claimed ?? size)))
  }

  @Test(
    "a file goes up whole, with its length and without asking for 100 Continue", arguments: [0, 1, 70_000, 5_000_000])
  func put(_ size: Int) async throws {
    let answer = try await client.send(
      HTTPRequest(
        "PUT", url: server.url + "/a", headers: [HTTPHeader("X-One", "1"), HTTPHeader("X-Empty", "")],
        body: try file(size)))
    #expect(answer.status == 201)
    let seen = try #require(try server.log().first)
    #expect(seen.size == size)
    #expect(answer.header("etag") == "\"\(seen.md5)\"")
    #expect(seen.headers["content-length"] == String(size))
    #expect(seen.headers["x-one"] == "1")
    #expect(seen.headers["x-empty"] == "")
    #expect(seen.headers["expect"] == nil)
    #expect(seen.headers["transfer-encoding"] == nil)
  }

  @Test("a range of a file goes up")
  func range() async throws {
    let path = try folder.write(Data("0123456789".utf8), to: "digits")
    let body = FileBody(try OpenFile(path: path, flags: O_RDONLY), offset: 3, length: 4)
    _ = try await client.send(HTTPRequest("PUT", url: server.url + "/a", body: .file(body)))
    #expect(try server.log().map(\.body) == ["3456"])
  }

  @Test("a body in memory goes by POST, a DELETE has none, a HEAD gets none")
  func methods() async throws {
    try server.rules(#"[{"match":"POST","status":200,"body":"hello","headers":{"X-Answer":"  padded "}}]"#)
    let answer = try await client.send(
      HTTPRequest("POST", url: server.url + "/p", body: .data(Array("{\"a\":1}".utf8))))
    #expect(String(decoding: answer.body, as: UTF8.self) == "hello")
    #expect(answer.header("X-ANSWER") == "padded")
    #expect(try await client.send(HTTPRequest("DELETE", url: server.url + "/d")).status == 200)
    #expect(try await client.send(HTTPRequest("HEAD", url: server.url + "/h")).body.isEmpty)
    #expect(try await client.send(HTTPRequest("POST", url: server.url + "/empty")).status == 200)
    let log = try server.log()
    #expect(log.map(\.method) == ["POST", "DELETE", "HEAD", "POST"])
    #expect(log.map(\.body) == ["{\"a\":1}", "", "", ""])
    #expect(log[3].headers["content-length"] == "0")
  }

  @Test("Retry-After is told in milliseconds, from seconds and from a date")
  func retryAfter() async throws {
    try server.rules(
      #"""
      [{"match":"/zero","status":413,"headers":{"Retry-After":"0"}},
       {"match":"/s","status":503,"headers":{"Retry-After":"7"}},
       {"match":"/d","status":503,"headers":{"Retry-After":"Fri, 01 Jan 2100 00:00:00 GMT"}}]
      """#)
    // Clients of their own, because each answer holds the host.
    #expect(try await HTTPClient().send(HTTPRequest("GET", url: server.url + "/s")).retryAfterMs == 7_000)
    let ms = try #require(try await HTTPClient().send(HTTPRequest("GET", url: server.url + "/d")).retryAfterMs)
    #expect(ms > 86_400_000)
    #expect(try await client.send(HTTPRequest("GET", url: server.url + "/zero")).retryAfterMs == 0)
    #expect(try await client.send(HTTPRequest("GET", url: server.url + "/n")).retryAfterMs == nil)
  }

  @Test("an answer that comes before the body was read is the answer", arguments: [413, 503, 403])
  func early(_ status: Int) async throws {
    try server.rules(#"[{"match":"PUT","status":\#(status),"early":true,"body":"no"}]"#)
    let answer = try await client.send(HTTPRequest("PUT", url: server.url + "/a", body: try file(30_000_000)))
    #expect(answer.status == status)
  }

  @Test("307 and 308 send the body again", arguments: [307, 308])
  func redirect(_ status: Int) async throws {
    try server.rules(#"[{"match":"PUT /old","status":\#(status),"headers":{"Location":"/new?a=b%20c"}}]"#)
    let answer = try await client.send(
      HTTPRequest(
        "PUT", url: server.url + "/old", headers: [HTTPHeader("Authorization", "secret")], body: try file(100_000)))
    #expect(answer.status == 201)
    let log = try server.log()
    #expect(log.map(\.path) == ["/old", "/new?a=b%20c"])
    #expect(log.map(\.size) == [100_000, 100_000])
    #expect(log[1].headers["authorization"] == "secret")
  }

  @Test("301 to 303 are answers, not followed", arguments: [301, 302, 303])
  func notFollowed(_ status: Int) async throws {
    try server.rules(#"[{"match":"PUT /old","status":\#(status),"headers":{"Location":"/new"}}]"#)
    #expect(try await client.send(HTTPRequest("PUT", url: server.url + "/old", body: try file(10))).status == status)
    #expect(try server.log().count == 1)
  }

  @Test("Authorization does not go to another host")
  func secretsStay() async throws {
    let other = try TestServer()
    try server.rules(#"[{"match":"/old","status":307,"headers":{"Location":"\#(other.url)/new"}}]"#)
    _ = try await client.send(
      HTTPRequest(
        "POST", url: server.url + "/old",
        headers: [HTTPHeader("authorization", "secret"), HTTPHeader("Cookie", "c"), HTTPHeader("X-Kept", "k")]))
    let seen = try #require(try other.log().first)
    #expect(seen.headers["authorization"] == nil)
    #expect(seen.headers["cookie"] == nil)
    #expect(seen.headers["x-kept"] == "k")
  }

  @Test("redirects end after three, and lead to http and https alone")
  func redirectLimits() async throws {
    try server.rules(
      #"""
      [{"match":"/loop","times":0,"status":308,"headers":{"Location":"/loop"}},
       {"match":"/file","status":307,"headers":{"Location":"file:///etc/passwd"}}]
      """#)
    let loop = await error { try await client.send(HTTPRequest("GET", url: server.url + "/loop")) }
    #expect(loop?.code == .tooManyRedirects)
    #expect(try server.log().count == 4)
    let file = await error { try await client.send(HTTPRequest("GET", url: server.url + "/file")) }
    #expect(file?.code == .badRedirect)
  }

  @Test("an answer longer than allowed is refused")
  func tooLong() async throws {
    try server.rules(#"[{"match":"/a","body":"\#(String(repeating: "x", count: 2_000))"}]"#)
    var request = HTTPRequest("GET", url: server.url + "/a")
    request.maxResponseBytes = 1_000
    #expect(await error { try await client.send(request) }?.code == .responseTooLarge)
  }

  @Test("a file that shrank is named as the reason at once")
  func shrank() async throws {
    let request = HTTPRequest("PUT", url: server.url + "/a", body: try file(200_000, claimed: 900_000))
    let found = await error { try await client.send(request) }
    #expect(found?.code == .fileShrank)
    #expect(found?.requestMayHaveArrived == true)
  }

  @Test("offline is told apart from a lost connection")
  func offline() async throws {
    let refused = await error { try await client.send(HTTPRequest("GET", url: "http://127.0.0.1:1/")) }
    #expect(refused?.code == .couldNotConnect)
    #expect(refused?.isOffline == true)
    #expect(refused?.requestMayHaveArrived == false)
    let unknown = await error { try await client.send(HTTPRequest("GET", url: "http://no-such-host.invalid/")) }
    #expect(unknown?.code == .couldNotResolve)
    #expect(unknown?.isOffline == true)
  }

  @Test(
    "what libcurl should never see is refused",
    arguments: ["ftp://x/", "file:///etc/passwd", "x", "", "http://", "http://x/a b", "http://x/\r\nA: b"])
  func badURL(_ url: String) async {
    #expect(await error { try await client.send(HTTPRequest("GET", url: url)) }?.code == .badURL)
  }

  @Test("a line break in a header is refused")
  func badHeader() async {
    let request = HTTPRequest("GET", url: server.url, headers: [HTTPHeader("A", "b\r\nC: d")])
    #expect(await error { try await client.send(request) }?.code == .badHeader)
  }

  @Test("messages name the host and hold no query")
  func noSecrets() async throws {
    let found = await error { try await client.send(HTTPRequest("GET", url: "http://u:p@127.0.0.1:1/x?token=secret")) }
    let message = try #require(found?.message)
    #expect(message.contains("127.0.0.1"))
    #expect(!message.contains("secret") && !message.contains("u:p"))
  }

  @Test("a cancel ends a request that hangs, and one that was canceled before is never sent")
  func cancel() async throws {
    try server.rules(#"[{"match":"/hang","hang":true}]"#)
    let (client, url) = (client, server.url)
    let task = Task { try await client.send(HTTPRequest("GET", url: url + "/hang")) }
    try await server.wait(for: "GET /hang")
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await client.send(HTTPRequest("GET", url: url + "/late"))
    }
    await #expect(throws: CancellationError.self) { try await late.value }
    #expect(try server.log().map(\.path) == ["/hang"])
  }

  @Test("many requests share the client, and each gets its own answer")
  func parallel() async throws {
    let (client, url) = (client, server.url)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<100 {
        group.addTask {
          let body = Array(repeating: UInt8(number), count: number)
          let answer = try await client.send(HTTPRequest("PUT", url: "\(url)/\(number)", body: .data(body)))
          #expect(answer.status == 201)
        }
      }
      try await group.waitForAll()
    }
    let log = try server.log()
    #expect(Set(log.map(\.path)).count == 100)
    #expect(log.allSatisfy { $0.path == "/\($0.size)" })
  }

  @Test("progress rises and ends with the whole body")
  func progress() async throws {
    let seen = Mutex<[Int64]>([])
    _ = try await client.send(HTTPRequest("PUT", url: server.url + "/a", body: try file(20_000_000))) { bytes in
      seen.withLock { $0.append(bytes) }
    }
    let values = seen.withLock { $0 }
    #expect(values.last == 20_000_000)
    #expect(values == values.sorted())
  }
}

/// The `HTTPError` that `body` throws, if it does.
func error(_ body: () async throws -> HTTPResponse) async -> HTTPError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? HTTPError
  }
}
