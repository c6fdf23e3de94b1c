import HTTP
import TaskConfig
import TaskModel
import TaskTestSupport
import Testing

@testable import Uploads

@Suite("Words of tus")
struct TusWordsTests {
  @Test(
    "a location is absolute, or relative to where it was created",
    arguments: [
      ("http://b/x", "http://b/x"), ("/x/1?a=b", "http://a:1/x/1?a=b"), ("1", "http://a:1/files/1"),
      ("//b/x", "http://b/x"), ("", nil), ("ftp://b/x", nil),
    ])
  func location(_ location: String, _ url: String?) {
    #expect(TusLocation.resolve(location, against: "http://a:1/files/?q=/z") == url)
  }

  @Test("a location never leads down from https to http")
  func downgrade() {
    #expect(TusLocation.resolve("http://a/1", against: "https://a/files") == nil)
    #expect(TusLocation.resolve("/1", against: "https://a") == "https://a/1")
  }

  @Test("metadata is in base 64, and the two names that servers want are never missing")
  func metadata() {
    let text = TusMetadata.text(
      [HTTPHeader("filename", "x"), HTTPHeader("flag", "")], name: "ä.jpg", mime: "image/jpeg")
    #expect(text == "filename eA==,flag,filetype aW1hZ2UvanBlZw==")
    #expect(TusMetadata.text([], name: "ä.jpg", mime: "a/b").hasPrefix("filename w6QuanBn,"))
    #expect(!TusMetadata.isKey("a b") && !TusMetadata.isKey("a,b") && !TusMetadata.isKey("") && TusMetadata.isKey("a"))
  }

  @Test("a checksum is sent only where one was announced, the strongest that both know")
  func checksum() {
    func features(_ headers: [(String, String)]) -> TusFeatures {
      TusFeatures(HTTPResponse(status: 204, headers: headers.map { HTTPHeader($0.0, $0.1) }))
    }
    let algorithms = ("Tus-Checksum-Algorithm", "MD5, sha1")
    #expect(features([("Tus-Extension", "creation, checksum"), algorithms]).checksum == .sha1)
    #expect(features([("Tus-Extension", "creation"), algorithms]).checksum == nil)
    #expect(features([("Tus-Extension", "checksum"), ("Tus-Checksum-Algorithm", "crc32")]).checksum == nil)
    #expect(TusFeatures().checksum == nil)
  }

  @Test("the credential's headers stay with the server that they are for")
  func secrets() {
    let credential = TusCredential(
      endpoint: "https://a/files", headers: [HTTPHeader("Authorization", "s"), HTTPHeader("Upload-Offset", "7")])
    let tools = UploadTools(
      http: HTTPClient(), settings: Config.Uploads(), clock: StillClock(time: 0), clocks: ServerClocks(),
      tusServers: TusServers(), lender: nil)
    let door = TusDoor(credential: credential, tools: tools)
    func names(_ url: String) -> [String] { door.request("HEAD", url).headers.map(\.name) }
    #expect(names("https://a/files/1") == ["Tus-Resumable", "Authorization"])
    #expect(names("https://b/files/1") == ["Tus-Resumable"])
    #expect(names("http://a/files/1") == ["Tus-Resumable"])
  }

  @Test(
    "an answer says what to do",
    arguments: [
      (409, FailureCode.badAnswer, Remedy.resume), (404, .uploadLost, .restart), (410, .uploadLost, .restart),
      (412, .rejected, .giveUp), (413, .rejected, .giveUp), (423, .unavailable, .retry),
      (460, .integrityMismatch, .restart),
      (401, .forbidden, .refreshCredential), (503, .unavailable, .retry), (507, .insufficientStorage, .needsUser),
    ])
  func answers(_ status: Int, _ code: FailureCode, _ remedy: Remedy) {
    let failure = TusDoor.failure(HTTPResponse(status: status), host: "h", isCreation: false)
    #expect(failure?.code == code)
    #expect(failure?.remedy == remedy)
    #expect(TusDoor.failure(HTTPResponse(status: 204), host: "h", isCreation: false) == nil)
  }

  @Test("at the creation a missing place is a wrong place")
  func creation() {
    #expect(TusDoor.failure(HTTPResponse(status: 404), host: "h", isCreation: true)?.code == .rejected)
  }
}
