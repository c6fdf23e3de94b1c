import Foundation
import HTTP
import JSON
import TaskConfig
import TaskModel
import TaskTestSupport
import Testing

@testable import Delivery

@Suite("The body of a delivery")
struct DeliveryBodyTests {
  @Test("it holds what exists, and no local name")
  func body() {
    let text = JSONWriter.text(.object(DeliveryBody.json(sampleTask())))
    let receipt = sampleTask().resources[0].receipt?.text ?? ""
    #expect(
      text
        == #"{"taskId":"task-1","account":"me & you","kind":"message","lane":"chat","attempt":3,"payload":{"text":"hi"},"#
        + #""resources":[{"index":0,"role":"video","url":"https://cdn/v","receipt":"#
        + JSONWriter.text(.string(receipt))
        + #","mime":"video/mp4","size":5,"width":4,"height":3,"durationMs":900,"name":"v.mp4"}],"#
        + #""failed":[{"index":1,"code":"damaged","message":"the image is damaged"}]}"#)
    #expect(!text.contains("secret") && !text.contains("export-name"))
  }
}

@Suite("Delivery by HTTP")
struct HTTPDeliveryTests {
  let server: TestServer
  init() throws { server = try TestServer() }

  private func service(_ base: String? = nil) -> DeliveryService {
    var config = Config()
    let target = HTTPTarget(
      url: (base ?? server.url) + "/send/{kind}?a={account}&t={taskId}",
      headers: [HTTPTarget.Header(name: "Authorization", value: "Bearer x")])
    config.destinations["d"] = Destination(credential: .directory(path: "/"), delivery: .http(target))
    return DeliveryService(config: CurrentConfig(config), http: HTTPClient(), frontEnds: NoFrontEnds())
  }

  @Test(
    "it is posted with the task's id as key, and the answer's id comes back",
    arguments: [(#""p7""#, "p7"), ("12345678901234567890", "12345678901234567890")])
  func posts(_ id: String, _ expected: String) async throws {
    try server.rules(#"[{"match":"POST","status":201,"body":"{\"id\":\#(id.replacing("\"", with: "\\\""))}"}]"#)
    #expect(try await service().deliver(sampleTask(), mode: .send) == expected)
    let seen = try #require(try server.log().first)
    #expect(seen.path == "/send/message?a=me%20%26%20you&t=task-1")
    #expect(seen.headers["idempotency-key"] == "task-1")
    #expect(seen.headers["content-type"] == "application/json")
    #expect(seen.headers["authorization"] == "Bearer x")
    #expect(try JSONParser.parse(seen.body) == .object(DeliveryBody.json(sampleTask())))
  }

  @Test(
    "an answer without an id, or without JSON, is sent all the same", arguments: ["{}", "", "ok", #"{\"id\":null}"#])
  func noId(_ body: String) async throws {
    try server.rules(#"[{"match":"POST","body":"\#(body)"}]"#)
    #expect(try await service().deliver(sampleTask(), mode: .send) == nil)
  }

  @Test("a lost answer leaves the outcome unknown, and a refused connection does not")
  func lost() async throws {
    let proxy = try FlakyProxy(targetPort: server.port, rule: "eatreply=1")
    let lost = await failure { try await service(proxy.url).deliver(sampleTask(), mode: .send) }
    #expect(lost?.remedy == .retry && lost?.outcomeUnknown == true && lost?.isOffline == false)
    #expect(try server.log().count == 1)
    let offline = await failure { try await service("http://127.0.0.1:1").deliver(sampleTask(), mode: .send) }
    #expect(offline?.remedy == .retry && offline?.outcomeUnknown == false && offline?.isOffline == true)
  }
}

@Suite("Answers to a delivery")
struct DeliveryAnswerTests {
  struct Row: Sendable {
    let status: Int
    var body = ""
    var retryAfterMs: Int64?
    let code: String
    let remedy: Remedy
    var unknown = false
  }

  @Test(
    "each refusal has its code and remedy",
    arguments: [
      Row(status: 400, code: "refused", remedy: .giveUp), Row(status: 404, code: "refused", remedy: .giveUp),
      Row(status: 401, code: "forbidden", remedy: .needsUser), Row(status: 403, code: "forbidden", remedy: .needsUser),
      Row(status: 403, body: #"{"code":"blocked","detail":"no"}"#, code: "blocked", remedy: .needsUser),
      Row(status: 410, body: #"{"type":"https://e/groupDissolved"}"#, code: "groupDissolved", remedy: .giveUp),
      Row(status: 409, code: "refused", remedy: .giveUp),
      Row(status: 409, retryAfterMs: 1_000, code: "unavailable", remedy: .retry, unknown: true),
      Row(status: 408, code: "timedOut", remedy: .retry, unknown: true),
      Row(status: 425, code: "unavailable", remedy: .retry), Row(status: 429, code: "unavailable", remedy: .retry),
      Row(status: 429, body: #"{"code":"blocked"}"#, code: "unavailable", remedy: .retry),
      Row(status: 500, code: "unavailable", remedy: .retry, unknown: true),
      Row(status: 503, code: "unavailable", remedy: .retry, unknown: true),
      Row(status: 501, code: "refused", remedy: .giveUp), Row(status: 302, code: "refused", remedy: .giveUp),
      Row(status: 200, body: "\n<!doctype HTML><title>Sign in", code: "badAnswer", remedy: .retry, unknown: true),
      Row(status: 507, code: "insufficientStorage", remedy: .needsUser),
    ])
  func table(_ row: Row) throws {
    let response = HTTPResponse(status: row.status, body: Array(row.body.utf8), retryAfterMs: row.retryAfterMs)
    let failure = try #require(throws: Failure.self) { try DeliveryAnswer.remoteId(response, host: "h") }
    #expect(failure.code.rawValue == row.code)
    #expect(failure.remedy == row.remedy)
    #expect(failure.outcomeUnknown == row.unknown)
    #expect(failure.httpStatus == row.status)
  }

  @Test("a conflict that names an id was delivered before")
  func conflict() throws {
    let response = HTTPResponse(status: 409, body: Array(#"{"id":"p1"}"#.utf8))
    #expect(try DeliveryAnswer.remoteId(response, host: "h") == "p1")
  }
}
