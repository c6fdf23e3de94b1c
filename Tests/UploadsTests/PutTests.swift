import Foundation
import JSON
import TaskConfig
import TaskModel
import TaskTestSupport
import Testing

@testable import Uploads

@Suite("Uploads by PUT with issued credentials")
struct PutTests {
  let server: TestServer
  init() throws { server = try TestServer() }

  private var target: CredentialSource {
    .http(
      HTTPTarget(
        url: server.url + "/uploads/{kind}", headers: [HTTPTarget.Header(name: "Authorization", value: "Bearer x")]))
  }

  /// A rule of the test server that answers a credential request.
  private func issuing(_ indexes: [Int], path: String = "store", extra: String = "", rule: String = "") -> String {
    let uploads = indexes.map {
      #"{"index":\#($0),"protocol":"put","url":"\#(server.url)/\#(path)/\#($0)?sig=s"\#(extra)}"#
    }
    let body = JSONWriter.text(.string(#"{"uploads":[\#(uploads.joined(separator: ","))]}"#))
    return #"{"match":"POST /uploads","body":\#(body)\#(rule)}"#
  }

  private func uploadAll(_ fixture: Fixture, _ service: UploadService) async throws -> [UploadResult] {
    let session = try service.session(for: fixture.task)
    let task = fixture.task
    return try await withThrowingTaskGroup(of: (Int, UploadResult).self) { group in
      for resource in task.resources where !resource.isDone {
        group.addTask { (resource.index, try await session.upload(resource, of: task) { _ in }) }
      }
      var results: [Int: UploadResult] = [:]
      for try await (index, result) in group { results[index] = result }
      return results.sorted { $0.key < $1.key }.map(\.value)
    }
  }

  @Test("the service is asked once for all resources, with what docs/server-contract.md says")
  func asksOnce() async throws {
    var fixture = try Fixture(sizes: [10, 20, 30, 40])
    fixture.task.resources[3].url = "https://done"
    try server.rules("[\(issuing([0, 1, 2]))]")
    let results = try await uploadAll(fixture, fixture.service(target))
    #expect(results.map(\.url) == (0...2).map { "\(server.url)/store/\($0)" })
    #expect(results.map(\.etag) == fixture.task.resources[..<3].map { $0.export?.md5 })
    #expect(results.allSatisfy { $0.uploadProtocol == "put" })
    let log = try server.log()
    let asked = log.filter { $0.method == "POST" }
    #expect(asked.count == 1)
    #expect(asked[0].path == "/uploads/feedPost")
    #expect(asked[0].headers["authorization"] == "Bearer x")
    let body = try JSONParser.parse(asked[0].body)
    let first = try #require(fixture.task.resources[0].export)
    #expect(
      body["resources"]?.array?.first == [
        "index": 0, "role": "image", "name": "my photo.jpg", "mime": "image/jpeg", "size": 10,
        "md5": .string(first.md5), "sha256": .string(first.sha256), "width": 40, "height": 30,
      ])
    #expect(body["resources"]?.array?.count == 3)
    #expect(body["taskId"] == "0190-task" && body["key"] == "key-1" && body["account"] == "me")
    #expect(body["kind"] == "feedPost" && body["attempt"] == 2 && body["renew"] == nil)
  }

  @Test("a PUT has type and MD5 of the export, the credential's headers win")
  func headers() async throws {
    let fixture = try Fixture(sizes: [10])
    let extra = #","publicUrl":"https://cdn/x","headers":{"content-type":"image/x","X-Signed":"1"}"#
    try server.rules("[\(issuing([0], extra: extra))]")
    #expect(try await uploadAll(fixture, fixture.service(target)).map(\.url) == ["https://cdn/x"])
    let put = try #require(try server.log().last)
    let md5 = try #require(fixture.task.resources[0].export?.md5)
    #expect(put.path == "/store/0?sig=s")
    #expect(put.md5 == md5)
    #expect(put.headers["content-type"] == "image/x")
    #expect(put.headers["x-signed"] == "1")
    let binary = try #require(Data(base64Encoded: put.headers["content-md5"] ?? ""))
    #expect(binary.map { String(format: "%02x", $0) }.joined() == md5)
    #expect(put.headers["authorization"] == nil)
  }

  @Test("a refusal that hits several uploads renews the credential by one request")
  func renewal() async throws {
    let fixture = try Fixture(sizes: [10, 20, 30])
    try server.rules(
      #"""
      [\#(issuing([0, 1, 2], path: "old")), {"match":"PUT /old","times":0,"status":403,"gate":3},
       \#(issuing([0, 1, 2], path: "new"))]
      """#)
    let results = try await uploadAll(fixture, fixture.service(target))
    #expect(results.map(\.url) == (0...2).map { "\(server.url)/new/\($0)" })
    let asked = try server.log().filter { $0.method == "POST" }
    #expect(try asked.map { try JSONParser.parse($0.body)["renew"] } == [nil, true])
  }

  @Test("a second refusal without progress is forbidden", .timeLimit(.minutes(10)))
  func forbidden() async throws {
    let fixture = try Fixture(sizes: [10])
    try server.rules(#"[{"match":"PUT","times":0,"status":401},\#(issuing([0], rule: #","times":0"#))]"#)
    let found = await failure { try await uploadAll(fixture, fixture.service(target))[0] }
    #expect(found?.code == .forbidden)
    #expect(found?.remedy == .needsUser)
    #expect(found?.resource == 0)
    #expect(try server.log().map(\.method) == ["POST", "PUT", "POST", "PUT"])
  }

  @Test("a renewal that fails for a moment does not make the next refusal final")
  func failedRenewal() async throws {
    let fixture = try Fixture(sizes: [10])
    try server.rules(
      #"""
      [\#(issuing([0], path: "old")), {"match":"PUT /old","times":0,"status":403}, {"match":"POST","status":503},
       \#(issuing([0], path: "new"))]
      """#)
    let session = try fixture.service(target).session(for: fixture.task)
    let first = await failure { try await session.upload(fixture.task.resources[0], of: fixture.task) { _ in } }
    #expect(first?.code == .unavailable && first?.remedy == .retry)
    let second = try await session.upload(fixture.task.resources[0], of: fixture.task) { _ in }
    #expect(second.url == server.url + "/new/0")
  }

  @Test("a credential that is about to expire is renewed before the next upload")
  func expiry() async throws {
    let fixture = try Fixture(sizes: [10, 20])
    let uploads = [0, 1].map { #"{"index":\#($0),"protocol":"put","url":"\#(server.url)/s/\#($0)"}"# }
    let body = JSONWriter.text(.string(#"{"expiresAt":5000,"uploads":[\#(uploads.joined(separator: ","))]}"#))
    try server.rules(#"[{"match":"POST","times":0,"body":\#(body)}]"#)
    let session = try fixture.service(target, now: 4_000).session(for: fixture.task)
    for resource in fixture.task.resources { _ = try await session.upload(resource, of: fixture.task) { _ in } }
    #expect(try server.log().map(\.method) == ["POST", "PUT", "POST", "PUT"])
  }

  @Test(
    "when a credential expires is read by the service's clock, however wrong ours is", arguments: [-40, 40] as [Int64])
  func expiryBySkewedClock(_ minutes: Int64) async throws {
    let fixture = try Fixture(sizes: [10, 20])
    let real = Int64(Date().timeIntervalSince1970 * 1_000)
    let uploads = [0, 1].map { #"{"index":\#($0),"protocol":"put","url":"\#(server.url)/s/\#($0)"}"# }
    let body = JSONWriter.text(
      .string(#"{"expiresAt":\#(real + 900_000),"uploads":[\#(uploads.joined(separator: ","))]}"#))
    try server.rules(#"[{"match":"POST","times":0,"body":\#(body)}]"#)
    let session = try fixture.service(target, now: real + minutes * 60_000).session(for: fixture.task)
    for resource in fixture.task.resources { _ = try await session.upload(resource, of: fixture.task) { _ in } }
    #expect(try server.log().map(\.method) == ["POST", "PUT", "PUT"])
  }

  @Test("bytes that were changed on the way are sent once more, twice means another file", arguments: [1, 2])
  func badDigest(_ times: Int) async throws {
    let fixture = try Fixture(sizes: [10])
    let error = JSONWriter.text(.string("<Error><Code>BadDigest</Code></Error>"))
    try server.rules(
      #"[\#(issuing([0])),{"match":"PUT","times":\#(times),"status":400,"body":\#(error)}]"#)
    let found = await failure { try await uploadAll(fixture, fixture.service(target))[0] }
    #expect(found?.code == (times == 1 ? nil : .integrityMismatch))
    #expect(try server.log().count { $0.method == "PUT" } == 2)
  }

  @Test(
    "a tag that is another MD5 is other bytes, unless the storage encrypts them by a key of its own",
    arguments: [
      ("", FailureCode.integrityMismatch), (#","x-amz-server-side-encryption":"AES256""#, .integrityMismatch),
      (#","x-amz-server-side-encryption":"aws:kms""#, nil),
      (#","x-amz-server-side-encryption-customer-algorithm":"AES256""#, nil),
    ] as [(String, FailureCode?)])
  func otherTag(_ headers: String, _ code: FailureCode?) async throws {
    let fixture = try Fixture(sizes: [10])
    let tag = String(repeating: "0", count: 32)
    try server.rules(
      #"[\#(issuing([0])),{"match":"PUT","times":0,"headers":{"ETag":"\"\#(tag)\""\#(headers)}}]"#)
    #expect(await failure { try await uploadAll(fixture, fixture.service(target))[0] }?.code == code)
  }

  @Test("the page of a hotel's network is no answer of storage; one that says Created is", arguments: [200, 201])
  func page(_ status: Int) async throws {
    let fixture = try Fixture(sizes: [5])
    try server.rules(
      #"[\#(issuing([0])),{"match":"PUT","times":0,"status":\#(status),"body":"<!DOCTYPE HTML><html>x</html>"}]"#)
    let service = fixture.service(target)
    let found = await failure { try await uploadAll(fixture, service)[0] }
    #expect(found?.code == (status == 200 ? .badAnswer : nil))
    #expect(found?.remedy == (status == 200 ? .retry : nil))
  }

  @Test("an expiry that means never is one, by whatever clock", arguments: [0, 4_000_000_000_000, 250_000_000_000_000])
  func neverExpires(_ now: Int64) async throws {
    let fixture = try Fixture(sizes: [5])
    let body = JSONWriter.text(
      .string(
        #"{"expiresAt":9223372036854775807,"uploads":[{"index":0,"protocol":"put","url":"\#(server.url)/s","headers":null}]}"#
      ))
    try server.rules(#"[{"match":"POST /uploads","body":\#(body)}]"#)
    #expect(try await uploadAll(fixture, fixture.service(target, now: now)).count == 1)
  }

  @Test("a member that is null is none")
  func nulls() throws {
    let text = #"{"expiresAt":null,"uploads":[{"index":0,"protocol":"put","url":"http://h/a?b","publicUrl":null}]}"#
    let answer = try CredentialAnswer.parse(try JSONParser.parse(text))
    #expect(answer.expiresAt == nil)
    #expect(answer.uploads[0] == .put(PutCredential(url: "http://h/a?b", headers: [], publicUrl: "http://h/a")))
  }

  @Test("a waiter that is canceled leaves the others alone")
  func cancelOneWaiter() async throws {
    let fixture = try Fixture(sizes: [10, 20])
    // Two requests have to stand at the gate: the credential request, and the one below that opens it.
    try server.rules("[\(issuing([0, 1], rule: #","gate":2,"times":2"#))]")
    let session = try fixture.service(target).session(for: fixture.task)
    let task = fixture.task
    let first = Task { try await session.upload(task.resources[0], of: task) { _ in } }
    try await server.wait(for: "POST /uploads")
    let second = Task { try await session.upload(task.resources[1], of: task) { _ in } }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    _ = try? Curl.fetch(server.url + "/uploads", post: "open")
    #expect(try await second.value.url == server.url + "/store/1")
  }

  @Test(
    "an answer of the wrong shape names its place",
    arguments: [
      (#"{"uploads":[{"index":0,"protocol":"put"}]}"#, "/uploads/0/url"), (#"{"uploads":{}}"#, "/uploads"),
      ("{}", "/uploads"),
      (#"{"uploads":[{"index":0,"protocol":"put","url":"ftp://x"}]}"#, "/uploads/0/url"),
      (#"{"uploads":[{"index":0,"protocol":"put","url":"http://x","headers":{"a":1}}]}"#, "/uploads/0/headers/a"),
      (#"{"expiresAt":"soon","uploads":[]}"#, "/expiresAt"),
    ])
  func badShape(_ body: String, _ pointer: String) async throws {
    let fixture = try Fixture(sizes: [10])
    try server.rules(#"[{"match":"POST","body":\#(JSONWriter.text(.string(body)))}]"#)
    let found = await failure { try await uploadAll(fixture, fixture.service(target))[0] }
    #expect(found?.code == .badAnswer)
    #expect(found?.remedy == .giveUp)
    #expect(found?.message.contains(pointer) == true)
  }

  @Test("an answer that is no JSON comes again later, a protocol that is not known never")
  func otherAnswers() async throws {
    let fixture = try Fixture(sizes: [10])
    try server.rules(
      #"""
      [{"match":"POST","body":"<html>"},{"match":"POST","body":"{\"uploads\":[{\"index\":0,\"protocol\":\"smoke\"}]}"},
       {"match":"POST","status":403,"body":"{\"code\":\"notMember\",\"detail\":\"Join first\"}"},
       {"match":"POST","status":503,"headers":{"Retry-After":"9"}}]
      """#)
    let service = fixture.service(target)
    let html = await failure { try await uploadAll(fixture, service)[0] }
    #expect(html?.code == .badAnswer && html?.remedy == .retry)
    let unknown = await failure { try await uploadAll(fixture, service)[0] }
    #expect(unknown?.code == .unsupported && unknown?.remedy == .giveUp)
    let refused = await failure { try await uploadAll(fixture, service)[0] }
    #expect(refused?.code.rawValue == "notMember" && refused?.message == "Join first")
    let busy = await failure { try await uploadAll(fixture, service)[0] }
    #expect(busy?.remedy == .retry && busy?.retryAfterMs == 9_000)
  }

  @Test("a cut upload may come again, and an unreachable service is offline")
  func broken() async throws {
    let fixture = try Fixture(sizes: [9_000_000])
    let proxy = try FlakyProxy(targetPort: server.port, rule: "match=PUT,cut=1000000")
    let body = JSONWriter.text(.string(#"{"uploads":[{"index":0,"protocol":"put","url":"\#(proxy.url)/s"}]}"#))
    try server.rules(#"[{"match":"POST","times":0,"body":\#(body)}]"#)
    let service = fixture.service(target)
    let cut = await failure { try await uploadAll(fixture, service)[0] }
    #expect(cut?.remedy == .retry && cut?.isOffline == false)
    #expect(try await uploadAll(fixture, service).count == 1)
    let nobody = fixture.service(.http(HTTPTarget(url: "http://127.0.0.1:1/")))
    #expect(await failure { try await uploadAll(fixture, nobody)[0] }?.isOffline == true)
  }
}
