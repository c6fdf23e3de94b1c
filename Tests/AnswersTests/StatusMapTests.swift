import HTTP
import JSON
import TaskModel
import Testing

@testable import Answers

@Suite("What an answer means")
struct StatusMapTests {
  @Test("success is no failure", arguments: [200, 201, 204, 299])
  func success(_ status: Int) {
    #expect(StatusMap.failure(status: status, host: "h", from: .storage) == nil)
  }

  @Test(
    "each status has its code and remedy",
    arguments: [
      (401, FailureCode.forbidden, Remedy.refreshCredential), (403, .forbidden, .refreshCredential),
      (400, .rejected, .giveUp), (404, .rejected, .giveUp), (405, .rejected, .giveUp), (409, .rejected, .giveUp),
      (411, .rejected, .giveUp), (412, .rejected, .giveUp), (413, .rejected, .giveUp), (415, .rejected, .giveUp),
      (301, .rejected, .giveUp), (304, .rejected, .giveUp), (501, .rejected, .giveUp),
      (507, .insufficientStorage, .needsUser), (408, .timedOut, .retry), (423, .unavailable, .retry),
      (425, .unavailable, .retry), (429, .unavailable, .retry), (500, .unavailable, .retry),
      (502, .unavailable, .retry), (503, .unavailable, .retry), (504, .unavailable, .retry),
      (599, .unavailable, .retry),
    ])
  func table(_ status: Int, _ code: FailureCode, _ remedy: Remedy) throws {
    let failure = try #require(StatusMap.failure(status: status, host: "h", from: .storage))
    #expect(failure.code == code)
    #expect(failure.remedy == remedy)
    #expect(failure.httpStatus == status)
    #expect(!failure.isOffline)
    #expect(failure.message.hasPrefix("h "))
  }

  @Test("the service's own refusal is a matter for the user", arguments: [401, 403])
  func serviceRefusal(_ status: Int) {
    let failure = StatusMap.failure(status: status, host: "h", from: .service)
    #expect(failure?.code == .forbidden)
    #expect(failure?.remedy == .needsUser)
  }

  @Test("413 with Retry-After comes again, and Retry-After is passed on")
  func retryAfter() {
    let tooLarge = StatusMap.failure(status: 413, retryAfterMs: 5_000, host: "h", from: .storage)
    #expect(tooLarge?.remedy == .retry)
    #expect(tooLarge?.retryAfterMs == 5_000)
    #expect(StatusMap.failure(status: 503, retryAfterMs: 7, host: "h", from: .storage)?.retryAfterMs == 7)
  }

  @Test(
    "a wish to be left alone names its host; a clock that is wrong, or an authority of one's own, is named as a cause")
  func hold() {
    let answer = HTTPResponse(status: 503, retryAfterMs: 9, origin: "https://h:443")
    #expect(StatusMap.failure(answer, host: "h", from: .storage)?.heldOrigin == "https://h:443")
    let plain = HTTPResponse(status: 503, origin: "https://h:443")
    #expect(StatusMap.failure(plain, host: "h", from: .storage)?.heldOrigin == nil)
    let held = StatusMap.failure(HTTPError(.held, "m", retryAfterMs: 5, origin: "https://h:443"))
    #expect(held.retryAfterMs == 5)
    #expect(held.heldOrigin == "https://h:443")
    #expect(StatusMap.failure(HTTPError(.tlsUntrusted, "m")).message.contains("uploads.caFile"))
  }

  @Test("each way to get no answer has its code and remedy", arguments: HTTPError.Code.allCases)
  func errors(_ code: HTTPError.Code) {
    let failure = StatusMap.failure(HTTPError(code, "m"))
    let expected: (FailureCode, Remedy) =
      switch code {
      case .couldNotResolve, .couldNotConnect, .connectTimedOut: (.unreachable, .retry)
      case .stalled, .timedOut: (.timedOut, .retry)
      case .connectionLost: (.unavailable, .retry)
      case .tlsHandshake: (.tlsFailed, .retry)
      case .tlsUntrusted: (.tlsFailed, .needsUser)
      case .fileShrank, .fileUnreadable: (.integrityMismatch, .restart)
      case .badResponse: (.badAnswer, .retry)
      case .responseTooLarge: (.badAnswer, .giveUp)
      case .tooManyRedirects, .badRedirect, .badURL, .badHeader: (.rejected, .giveUp)
      case .outOfResources, .sinkFailed: (.internalError, .retry)
      case .held: (.unavailable, .retry)
      }
    #expect(failure.isUntried == (code == .held))
    #expect((failure.code, failure.remedy) == expected)
    #expect(failure.isOffline == (expected.0 == .unreachable))
  }
}

@Suite("Problem documents and URLs")
struct AnswerPartsTests {
  @Test(
    "the code is the member, else the end of the type",
    arguments: [
      (#"{"code":"blocked","type":"x/y"}"#, "blocked"),
      (#"{"type":"https://e.org/problems/not-member?x"}"#, "not-member"),
      (#"{"type":"urn:problem:groupDissolved"}"#, "groupDissolved"), (#"{"type":"about:blank"}"#, nil),
      (#"{"code":"two words"}"#, nil), (#"{"code":7}"#, nil), ("<html>", nil), ("[]", nil), ("", nil),
    ])
  func code(_ body: String, _ expected: String?) {
    let problem = ProblemDocument(HTTPResponse(status: 400, body: Array(body.utf8)))
    #expect(problem?.code.rawValue == expected)
  }

  @Test("a URL's places are filled with encoded values, unknown ones stay")
  func template() {
    let url = URLTemplate.fill(
      "https://e/{kind}/{account}?t={taskId}&x={y}{", ["kind": "a/b", "account": "{kind}é", "taskId": "1"])
    #expect(url == "https://e/a%2Fb/%7Bkind%7D%C3%A9?t=1&x={y}{")
  }
}
