import Foundation
import JSON
import TaskModel
import TaskTestSupport
import Testing

@testable import Uploads

@Suite("Uploads by form", .serialized)
struct FormTests {
  let server: TestServer
  init() throws { server = try TestServer() }

  private func rules(_ fixture: Fixture, _ post: String) throws {
    let credential = #"""
      {"index":0,"protocol":"form","url":"\#(server.url)/form","fields":{"key":"a/b","policy":"p"},"publicUrl":"https://cdn/a/b"}
      """#
    let body = JSONWriter.text(.string(#"{"uploads":[\#(credential)]}"#))
    try server.rules(#"[{"match":"POST /uploads","body":\#(body)},{"match":"POST /form",\#(post)}]"#)
  }

  private func upload(_ fixture: Fixture) async throws -> UploadResult {
    let session = try fixture.service(server.credentialSource).session(for: fixture.task)
    return try await session.upload(fixture.task.resources[0], of: fixture.task) { _ in }
  }

  @Test("the form has its fields and the file, and any success is one", arguments: [200, 201, 204, 303])
  func posts(_ status: Int) async throws {
    let fixture = try Fixture(sizes: [0])
    try Data("hello".utf8).write(to: URL(fileURLWithPath: fixture.folder("export-0")))
    var changed = fixture
    changed.task.resources[0].export?.size = 5
    try rules(changed, #""status":\#(status)"#)
    #expect(try await upload(changed).url == "https://cdn/a/b")
    let post = try #require(try server.log().last)
    #expect(post.headers["content-type"]?.hasPrefix("multipart/form-data; boundary=") == true)
    #expect(post.headers["content-length"] == String(post.size))
    let parts = post.body.components(separatedBy: "\r\n\r\n")
    #expect(parts.count == 4 && parts[1].hasPrefix("a/b\r\n") && parts[2].hasPrefix("p\r\n"))
    #expect(parts[3].hasPrefix("hello\r\n--") && parts[3].hasSuffix("--\r\n"))
  }

  @Test("S3's tag of an XML answer is kept, and its errors are understood")
  func answers() async throws {
    let fixture = try Fixture(sizes: [10])
    let md5 = try #require(fixture.task.resources[0].export?.md5)
    try rules(fixture, #""status":201,"body":"<PostResponse><ETag>\"\#(md5)\"</ETag></PostResponse>""#)
    #expect(try await upload(fixture).etag == md5)
    try rules(fixture, #""status":400,"body":"<Error><Code>EntityTooLarge</Code></Error>""#)
    #expect(await failure { try await upload(fixture) }?.remedy == .giveUp)
    try rules(fixture, #""status":303,"headers":{"ETag":"00000000000000000000000000000000"}"#)
    #expect(await failure { try await upload(fixture) }?.code == .integrityMismatch)
  }

  @Test("a large file is streamed between its fields")
  func large() async throws {
    let fixture = try Fixture(sizes: [3_000_001])
    try rules(fixture, #""status":204"#)
    let told = Told()
    let session = try fixture.service(server.credentialSource).session(for: fixture.task)
    _ = try await session.upload(fixture.task.resources[0], of: fixture.task) { told.note($0) }
    #expect(told.values.last == 3_000_001)
    let post = try #require(try server.log().last)
    #expect(post.size > 3_000_001 && post.headers["content-length"] == String(post.size))
  }
}
