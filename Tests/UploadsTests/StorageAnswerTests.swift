import HTTP
import TaskModel
import Testing

@testable import Uploads

@Suite("Answers of storage")
struct StorageAnswerTests {
  @Test(
    "an S3 code says more than the status",
    arguments: [
      (400, "BadDigest", FailureCode.integrityMismatch, Remedy.restart),
      (400, "ExpiredToken", .forbidden, .refreshCredential),
      (400, "RequestTimeout", .timedOut, .retry), (409, "OperationAborted", .unavailable, .retry),
      (200, "InternalError", .unavailable, .retry), (200, "AccessDenied", .rejected, .giveUp),
      (403, "AccessDenied", .forbidden, .refreshCredential), (400, "EntityTooLarge", .rejected, .giveUp),
    ])
  func codes(_ status: Int, _ code: String, _ expected: FailureCode, _ remedy: Remedy) {
    let body = "<?xml version=\"1.0\"?>\n<Error><Code>\(code)</Code><Message>m</Message></Error>"
    let failure = StorageAnswer.failure(HTTPResponse(status: status, body: Array(body.utf8)), host: "h")
    #expect(failure?.code == expected)
    #expect(failure?.remedy == remedy)
    #expect(failure?.httpStatus == status)
  }

  @Test(
    "an error is found behind white space and in any namespace",
    arguments: [String(repeating: " \n", count: 4_000), ""])
  func padded(_ space: String) {
    let body = space + "<?xml version=\"1.0\"?><Error xmlns=\"urn:x\"><Code>SlowDown</Code></Error>"
    #expect(StorageAnswer.errorCode(Array(body.utf8)) == "SlowDown")
  }

  @Test(
    "what is no error document changes nothing",
    arguments: ["", "{}", "<html><Error><Code>BadDigest</Code>", "<Error>"])
  func others(_ body: String) {
    #expect(StorageAnswer.failure(HTTPResponse(status: 200, body: Array(body.utf8)), host: "h") == nil)
  }
}
