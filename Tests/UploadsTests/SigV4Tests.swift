import HTTP
import Testing

@testable import Uploads

/// The examples of "Authenticating Requests: Using the Authorization Header" (Amazon S3 API Reference).
@Suite("Signature Version 4")
struct SigV4Tests {
  private static let signer = SigV4(
    accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    sessionToken: nil, region: "us-east-1")
  /// 2013-05-24 00:00:00 UTC.
  private static let time: Int64 = 1_369_353_600_000
  private static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

  struct Example: Sendable, CustomTestStringConvertible {
    let name: String
    var method = "GET"
    var path = "/"
    var query: [[String]] = []
    var headers: [HTTPHeader] = []
    var payload = SigV4Tests.empty
    let signature: String
    var testDescription: String { name }
  }

  @Test(
    "the published examples come out",
    arguments: [
      Example(
        name: "GET object", path: "/test.txt", headers: [HTTPHeader("Range", "bytes=0-9")],
        signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
      Example(
        name: "PUT object", method: "PUT", path: "/test%24file.text",
        headers: [
          HTTPHeader("Date", "Fri, 24 May 2013 00:00:00 GMT"), HTTPHeader("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ], payload: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
        signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
      Example(
        name: "GET bucket lifecycle", query: [["lifecycle", ""]],
        signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
      Example(
        name: "list objects", query: [["prefix", "J"], ["max-keys", "2"]],
        signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ])
  func published(_ example: Example) throws {
    let headers = try Self.signer.headers(
      for: SigV4.Request(
        method: example.method, host: "examplebucket.s3.amazonaws.com", path: example.path,
        query: example.query.map { ($0[0], $0[1]) }, headers: example.headers, payload: example.payload), at: Self.time)
    let authorization = headers.first { $0.name == "Authorization" }?.value
    #expect(authorization?.hasSuffix("Signature=\(example.signature)") == true, "\(authorization ?? "")")
    #expect(headers.first { $0.name == "x-amz-date" }?.value == "20130524T000000Z")
  }

  @Test("a session token is signed and sent")
  func token() throws {
    let signer = SigV4(accessKeyId: "a", secretAccessKey: "b", sessionToken: "t", region: "r")
    let headers = try signer.headers(
      for: SigV4.Request(method: "GET", host: "h", path: "/", payload: Self.empty), at: Self.time)
    #expect(headers.contains(HTTPHeader("x-amz-security-token", "t")))
    #expect(
      headers.last?.value.contains("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token") == true)
  }

  @Test(
    "calendar and clock in UTC",
    arguments: [
      (0, "19700101T000000Z"), (951_782_400_000, "20000229T000000Z"), (1_709_251_199_999, "20240229T235959Z"),
      (1_709_251_200_000, "20240301T000000Z"), (4_102_444_799_000, "20991231T235959Z"),
    ])
  func calendar(_ milliseconds: Int64, _ text: String) { #expect(UTCTime(milliseconds: milliseconds).compact == text) }

  @Test("an HTTP date is understood in the one form that servers send")
  func httpDate() {
    #expect(UTCTime.milliseconds(ofHTTPDate: "Fri, 24 May 2013 00:00:00 GMT") == Self.time)
    #expect(UTCTime.milliseconds(ofHTTPDate: "Thu, 29 Feb 2024 23:59:59 GMT") == 1_709_251_199_000)
    for text in ["", "24 May 2013", "Fri, 24 Mai 2013 00:00:00 GMT", "Fri, 24 May 2013 25:00:00 GMT"] {
      #expect(UTCTime.milliseconds(ofHTTPDate: text) == nil)
    }
  }
}
