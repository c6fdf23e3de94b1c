import HTTP
import TaskModel
import Testing

@testable import Fetches

@Suite("Whether an answer belongs to what is there")
struct DownloadHeadTests {
  private func judge(_ status: Int, _ headers: [(String, String)], have: Int64 = 0, tag: String? = nil) -> DownloadHead
  {
    let head = HTTPResponse(status: status, headers: headers.map { HTTPHeader($0.0, $0.1) })
    return DownloadHead.judge(head, have: have, tag: tag, maxBytes: 100)
  }

  @Test("a whole file begins anew, whatever was there")
  func whole() {
    #expect(
      judge(200, [("Content-Length", "10"), ("ETag", "\"a\"")], have: 5, tag: "\"a\"")
        == .beginAnew(total: 10, tag: "\"a\""))
    #expect(judge(200, []) == .beginAnew(total: nil, tag: nil))
  }

  @Test("the rest of the same version is added, and nothing else")
  func rest() {
    let range = ("Content-Range", "bytes 5-9/10")
    #expect(judge(206, [range, ("ETag", "\"a\"")], have: 5, tag: "\"a\"") == .append(total: 10))
    #expect(judge(206, [range], have: 5, tag: "\"a\"") == .append(total: 10))
    #expect(judge(206, [range, ("ETag", "\"b\"")], have: 5, tag: "\"a\"") == .startOver)
    #expect(judge(206, [("Content-Range", "bytes 4-9/10")], have: 5, tag: "\"a\"") == .startOver)
    #expect(judge(206, [], have: 5, tag: "\"a\"") == .startOver)
    #expect(judge(206, [range], have: 0, tag: nil) == .startOver)
  }

  @Test("a weak tag and a date of just now name no version")
  func validators() {
    func tag(_ headers: [(String, String)]) -> String? {
      DownloadHead.validator(HTTPResponse(status: 200, headers: headers.map { HTTPHeader($0.0, $0.1) }))
    }
    #expect(tag([("ETag", "\"a\"")]) == "\"a\"")
    #expect(tag([("ETag", "W/\"a\""), ("Last-Modified", "x"), ("Date", "y")]) == nil)
    #expect(tag([("Last-Modified", "x"), ("Date", "y")]) == "x")
    #expect(tag([("Last-Modified", "x"), ("Date", "x")]) == nil)
    #expect(tag([("Last-Modified", "x")]) == nil)
  }

  @Test("what is too large is refused by its promise, and another encoding or status too")
  func refused() {
    func code(_ head: DownloadHead) -> FailureCode? {
      if case .refuse(let failure) = head { failure.code } else { nil }
    }
    #expect(code(judge(200, [("Content-Length", "101")])) == .tooLarge)
    #expect(code(judge(206, [("Content-Range", "bytes 5-100/101")], have: 5, tag: "\"a\"")) == .tooLarge)
    #expect(code(judge(200, [("Content-Encoding", "gzip")])) == .sourceUnreadable)
    #expect(code(judge(204, [])) == .sourceUnreadable)
  }
}
