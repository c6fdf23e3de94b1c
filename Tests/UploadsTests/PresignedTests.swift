import Foundation
import JSON
import TaskModel
import TaskTestSupport
import Testing

@testable import Uploads

/// Against a server that plays S3 by rules, for what a real one does not do on demand.
@Suite("Multipart by presigned URLs", .serialized)
struct PresignedTests {
  let server: TestServer
  init() throws { server = try TestServer() }

  private static let partSize = 1_000

  /// A rule that answers a credential request with URLs below `/id/`.
  private func issuing(_ id: String, parts: Int = 3, answer: String = "", credential more: String = "") -> String {
    let urls = (1...parts).map { #"{"number":\#($0),"url":"\#(server.url)/\#(id)/\#($0)?sig=secret"}"# }
    let credential = #"""
      {"index":0,"protocol":"multipart","uploadId":"\#(id)","partSize":\#(Self.partSize),"parts":[\#(urls.joined(separator: ","))],
       "listUrl":"\#(server.url)/\#(id)/list?sig=secret","completeUrl":"\#(server.url)/\#(id)/complete?sig=secret",
       "abortUrl":"\#(server.url)/\#(id)/abort?sig=secret","publicUrl":"\#(server.url)/object"\#(more)}
      """#
    let body = JSONWriter.text(.string(#"{\#(answer)"uploads":[\#(credential)]}"#))
    return #"{"match":"POST /uploads","body":\#(body)}"#
  }

  private static let done = JSONWriter.text(
    .string("<CompleteMultipartUploadResult><ETag>&quot;e-3&quot;</ETag></CompleteMultipartUploadResult>"))

  private func error(_ code: String) -> String { JSONWriter.text(.string("<Error><Code>\(code)</Code></Error>")) }

  private func listing(_ parts: [Int], of fixture: Fixture, next: Int? = nil) throws -> String {
    let data = try fixture.folder.read("export-0")
    let pieces = parts.map { data[($0 - 1) * Self.partSize..<min(data.count, $0 * Self.partSize)] }
    let paths = try zip(parts, pieces).map { try fixture.folder.write(Data($1), to: "part-\($0)") }
    let sums = String(decoding: try Command.run("md5sum", paths), as: UTF8.self).split(separator: "\n")
    let elements = zip(zip(parts, pieces), sums).map { part, sum in
      "<Part><PartNumber>\(part.0)</PartNumber><ETag>&quot;\(sum.prefix(32))&quot;</ETag>"
        + "<Size>\(part.1.count)</Size></Part>"
    }
    let more = next.map {
      "<IsTruncated>true</IsTruncated><NextPartNumberMarker>\($0)</NextPartNumberMarker>"
    }
    return JSONWriter.text(.string("<ListPartsResult>\(more ?? "")\(elements.joined())</ListPartsResult>"))
  }

  private func upload(
    _ fixture: Fixture, _ memory: TestMemory = TestMemory(), lender: (any SlotLender)? = nil
  ) async throws -> UploadResult {
    let service = fixture.service(server.credentialSource)
    if let lender { service.borrow(from: lender) }
    let session = try service.session(for: fixture.task)
    return try await session.upload(fixture.task.resources[0], of: fixture.task, memory: memory, progress: { _ in })
  }

  private func lines() throws -> [String] {
    try server.log().map { "\($0.method) \($0.path.prefix { $0 != "?" })" }
  }

  @Test("every part goes to its URL, and Complete names them with the tags that the server gave")
  func plain() async throws {
    let fixture = try Fixture(sizes: [2_500])
    try server.rules(#"[\#(issuing("u1")),{"match":"complete","body":\#(Self.done)}]"#)
    let memory = TestMemory()
    let result = try await upload(fixture, memory)
    #expect(result == UploadResult(url: server.url + "/object", etag: "e-3", uploadProtocol: "multipart"))
    #expect(try lines() == ["POST /uploads", "PUT /u1/1", "PUT /u1/2", "PUT /u1/3", "POST /u1/complete"])
    let log = try server.log()
    #expect(log[1...3].map(\.size) == [1_000, 1_000, 500])
    for (number, part) in log[1...3].enumerated() {
      #expect(log[4].body.contains("<PartNumber>\(number + 1)</PartNumber><ETag>&quot;\(part.md5)&quot;"))
      #expect(part.headers["content-md5"] != nil)
    }
    let saved = JSONWriter.text(try #require(memory.saved))
    #expect(saved.contains("u1/abort") && !saved.contains("u1/1?") && !saved.contains("u1/complete"))
  }

  @Test("an attempt that goes on names its upload to the service, and sends what the server lacks")
  func goesOn() async throws {
    let fixture = try Fixture(sizes: [2_500])
    try server.rules(#"[\#(issuing("u1")),{"match":"PUT /u1/2","status":500}]"#)
    let memory = TestMemory()
    #expect(await failure { try await upload(fixture, memory) }?.remedy == .retry)
    try server.rules(
      #"""
      [\#(issuing("u1")),{"match":"GET /u1/list","body":\#(try listing([1], of: fixture))},
       {"match":"complete","body":\#(Self.done)}]
      """#)
    _ = try await upload(fixture, memory)
    let log = try server.log().suffix(5)
    #expect(
      log.map { "\($0.method) \($0.path.prefix { $0 != "?" })" } == [
        "POST /uploads", "GET /u1/list", "PUT /u1/2", "PUT /u1/3", "POST /u1/complete",
      ])
    let asked = try JSONParser.parse(try #require(log.first).body)
    #expect(asked["renew"] == true && asked["resources"]?.array?.first?["uploadId"] == "u1")
    #expect(memory.discarded == [])
  }

  @Test("URLs that expire on the way are renewed once for this very upload, and what is up stays")
  func renewal() async throws {
    let fixture = try Fixture(sizes: [2_500])
    try server.rules(
      #"""
      [\#(issuing("u1")),{"match":"PUT /u1/2","status":403,"body":\#(error("AccessDenied"))},\#(issuing("u1")),
       {"match":"GET /u1/list","body":\#(try listing([1], of: fixture))},{"match":"complete","body":\#(Self.done)}]
      """#)
    _ = try await upload(fixture)
    #expect(
      try lines() == [
        "POST /uploads", "PUT /u1/1", "PUT /u1/2", "POST /uploads", "GET /u1/list", "PUT /u1/2", "PUT /u1/3",
        "POST /u1/complete",
      ])
    #expect(try JSONParser.parse(try server.log()[3].body)["resources"]?.array?.first?["uploadId"] == "u1")
  }

  @Test("a renewal that is for another upload starts over in it, and the old one is given up")
  func otherUpload() async throws {
    let fixture = try Fixture(sizes: [2_500])
    try server.rules(
      #"""
      [\#(issuing("u1")),{"match":"PUT /u1/3","status":403},\#(issuing("u2")),{"match":"complete","body":\#(Self.done)}]
      """#)
    let memory = TestMemory()
    _ = try await upload(fixture, memory)
    #expect(
      try lines() == [
        "POST /uploads", "PUT /u1/1", "PUT /u1/2", "PUT /u1/3", "POST /uploads", "PUT /u2/1", "PUT /u2/2", "PUT /u2/3",
        "POST /u2/complete",
      ])
    #expect(memory.discarded.map { $0["uploadId"] } == ["u1"])
    #expect(memory.saved?["uploadId"] == "u2")
  }

  @Test("a credential that is about to expire brings the part that is under way, and no further one")
  func expires() async throws {
    let fixture = try Fixture(sizes: [2_500])
    let expiring = issuing("u1", answer: #""expiresAt":0,"#)
    try server.rules(
      #"""
      [\#(expiring),\#(expiring),{"match":"GET /u1/list","body":\#(try listing([1], of: fixture))},\#(issuing("u1")),
       {"match":"GET /u1/list","body":\#(try listing([1, 2], of: fixture))},{"match":"complete","body":\#(Self.done)}]
      """#)
    _ = try await upload(fixture)
    let lines = try lines()
    #expect(
      lines == [
        "POST /uploads", "PUT /u1/1", "POST /uploads", "GET /u1/list", "PUT /u1/2", "POST /uploads", "GET /u1/list",
        "PUT /u1/3", "POST /u1/complete",
      ])
  }

  @Test("one slow part holds no other up: all the rest goes past it")
  func noBarrier() async throws {
    let fixture = try Fixture(sizes: [40_000])
    // Neither the first part nor the last one is answered before both are there.
    let gate = #"{"match":"sig=secret&late","gate":2,"times":2,"headers":{"ETag":"\"any\""}}"#
    let urls = issuing("u1", parts: 40).replacing("/u1/1?sig=secret", with: "/u1/1?sig=secret&late")
      .replacing("/u1/40?sig=secret", with: "/u1/40?sig=secret&late")
    try server.rules(#"[\#(urls),\#(gate),{"match":"complete","body":\#(Self.done)}]"#)
    let lender = TwoSlots()
    _ = try await upload(fixture, lender: lender)
    #expect(try lines().count { $0.hasPrefix("PUT") } == 40)
    #expect(lender.state.withLock { $0.taken } > 0 && lender.state.withLock { $0.out } == 0)
  }

  @Test("an upload of more parts than one page of the list names goes on by the pages that the service has signed")
  func pages() async throws {
    let fixture = try Fixture(sizes: [1_003_000])
    let pages = (0..<2).map { #""\#(server.url)/u1/page\#($0)?sig=secret""# }.joined(separator: ",")
    let urls = issuing("u1", parts: 1_003, credential: #","listUrls":[\#(pages)]"#)
    try server.rules(#"[\#(urls),{"match":"PUT /u1/1?","status":500}]"#)
    let memory = TestMemory()
    _ = await failure { try await upload(fixture, memory) }
    // Part 7 is missing, so the first page ends one later, and the second one names a part again.
    try server.rules(
      #"""
      [\#(urls),{"match":"page0","body":\#(try listing((1...1_001).filter { $0 != 7 }, of: fixture, next: 1_001))},
       {"match":"page1","body":\#(try listing([1_001, 1_002], of: fixture))},
       {"match":"complete","body":\#(Self.done)}]
      """#)
    _ = try await upload(fixture, memory)
    #expect(
      try lines().suffix(5) == [
        "GET /u1/page0", "GET /u1/page1", "PUT /u1/7", "PUT /u1/1003", "POST /u1/complete",
      ])
  }

  @Test("an upload that is gone asks the service for another one, without naming the old")
  func gone() async throws {
    let fixture = try Fixture(sizes: [2_500])
    try server.rules(
      #"""
      [\#(issuing("u1")),{"match":"/u1/2","status":404,"body":\#(error("NoSuchUpload"))},
       {"match":"/u1/list","status":404,"body":\#(error("NoSuchUpload"))},{"match":"HEAD /object","status":404},
       \#(issuing("u2")),{"match":"complete","body":\#(Self.done)}]
      """#)
    let memory = TestMemory()
    _ = try await upload(fixture, memory)
    let asked = try server.log().filter { $0.path == "/uploads" }
    #expect(asked.count == 2)
    #expect(try JSONParser.parse(asked[1].body)["resources"]?.array?.first?["uploadId"] == nil)
    #expect(memory.saved?["uploadId"] == "u2")
  }

  @Test("after Complete was lost, the object's size and tag are the proof", arguments: [true, false])
  func completeLost(_ isOurs: Bool) async throws {
    let fixture = try Fixture(sizes: [2_500])
    let data = try fixture.folder.read("export-0")
    let parts = stride(from: 0, to: data.count, by: Self.partSize).map {
      data[$0..<min(data.count, $0 + Self.partSize)]
    }
    var digests = Data()
    for part in parts {
      let path = try fixture.folder.write(Data(part), to: "part")
      digests += try Command.run("openssl", ["md5", "-binary", path])
    }
    let path = try fixture.folder.write(digests, to: "digests")
    let tag = String(decoding: try Command.run("md5sum", [path]), as: UTF8.self).prefix(32) + "-3"
    let head = #"""
      {"match":"HEAD /object","headers":{"ETag":"\"\#(isOurs ? String(tag) : "0-3")\""},"body":"\#(String(repeating: "x", count: 2_500))"}
      """#
    try server.rules(
      #"""
      [\#(issuing("u1")),{"match":"complete","status":404,"body":\#(error("NoSuchUpload"))},
       {"match":"/u1/list","status":404,"body":\#(error("NoSuchUpload"))},\#(head),
       \#(issuing("u2")),{"match":"complete","body":\#(Self.done)}]
      """#)
    let result = try await upload(fixture)
    #expect(result.etag == (isOurs ? String(tag) : "e-3"))
    #expect(try lines().contains("POST /u2/complete") == !isOurs)
  }

  @Test(
    "a 200 that carries an error is that error",
    arguments: [("InternalError", Remedy.retry), ("SlowDown", .retry), ("EntityTooSmall", .giveUp)])
  func errorUnder200(_ code: String, _ remedy: Remedy) async throws {
    let fixture = try Fixture(sizes: [2_500])
    try server.rules(#"[\#(issuing("u1")),{"match":"complete","body":\#(error(code))}]"#)
    #expect(await failure { try await upload(fixture) }?.remedy == remedy)
  }

  @Test("parts that Complete does not find are looked up and sent again")
  func invalidPart() async throws {
    let fixture = try Fixture(sizes: [2_500])
    try server.rules(
      #"""
      [\#(issuing("u1")),{"match":"complete","status":400,"body":\#(error("InvalidPart"))},
       {"match":"/u1/list","body":\#(try listing([1, 3], of: fixture))},{"match":"complete","body":\#(Self.done)}]
      """#)
    _ = try await upload(fixture)
    #expect(
      try lines().suffix(4) == ["POST /u1/complete", "GET /u1/list", "PUT /u1/2", "POST /u1/complete"])
  }

  @Test("a digest that is refused twice means that the file is not what it was", arguments: [1, 2])
  func badDigest(_ times: Int) async throws {
    let fixture = try Fixture(sizes: [2_500])
    try server.rules(
      #"""
      [\#(issuing("u1")),{"match":"/u1/2","times":\#(times),"status":400,"body":\#(error("BadDigest"))},
       {"match":"complete","body":\#(Self.done)}]
      """#)
    let found = await failure { try await upload(fixture) }
    #expect(found?.code == (times == 1 ? nil : .integrityMismatch))
  }

  @Test("a part whose tag is another MD5 is no part of ours, unless the storage encrypts it", arguments: [false, true])
  func otherTag(_ isEncrypted: Bool) async throws {
    let fixture = try Fixture(sizes: [2_500])
    let more = isEncrypted ? #","x-amz-server-side-encryption":"aws:kms""# : ""
    let tag = String(repeating: "0", count: 32)
    try server.rules(
      #"""
      [\#(issuing("u1")),{"match":"/u1/2","times":0,"status":200,"headers":{"ETag":"\#(tag)"\#(more)}},
       {"match":"complete","body":\#(Self.done)}]
      """#)
    #expect(await failure { try await upload(fixture) }?.code == (isEncrypted ? nil : .integrityMismatch))
  }

  @Test("taking back uses the saved URL, and asks for a fresh one where it has expired", arguments: [false, true])
  func abandon(_ isExpired: Bool) async throws {
    let fixture = try Fixture(sizes: [2_500])
    try server.rules(#"[\#(issuing("u1")),{"match":"PUT /u1/2","status":500}]"#)
    let memory = TestMemory()
    _ = await failure { try await upload(fixture, memory) }
    let state = try #require(memory.saved)
    try server.rules(
      #"[{"match":"DELETE /u1/abort","status":\#(isExpired ? 403 : 204)},\#(issuing("u1")),{"match":"DELETE","status":404}]"#
    )
    try await fixture.service(server.credentialSource).abandon(state, destination: "d")
    let lines = try lines().suffix(isExpired ? 3 : 1)
    #expect(lines.first == "DELETE /u1/abort" && lines.last == "DELETE /u1/abort")
    if isExpired {
      let asked = try JSONParser.parse(try #require(try server.log().last { $0.path == "/uploads" }).body)
      #expect(asked["taskId"] == "0190-task" && asked["renew"] == true)
      #expect(asked["resources"]?.array?.first?["uploadId"] == "u1")
    }
    try server.rules(#"[{"match":"DELETE","status":503}]"#)
    let busy = await #expect(throws: Failure.self) {
      try await fixture.service(server.credentialSource).abandon(state, destination: "d")
    }
    #expect(busy?.remedy == .retry)
  }
}
