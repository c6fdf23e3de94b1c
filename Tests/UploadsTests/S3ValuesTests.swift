import HTTP
import JSON
import TaskModel
import Testing

@testable import Uploads

@Suite("S3: values")
struct S3ValuesTests {
  @Test(
    "a part is as large as wished for, or as large as 10,000 parts make it",
    arguments: [
      (8 << 20, 0, 8 << 20), (1 << 20, 100, 5 << 20), (8 << 20, 80_000 << 20, 8 << 20),
      (8 << 20, (80_000 << 20) + 1, 9 << 20), (8 << 20, 5 << 40, 525 << 20),
    ] as [(Int64, Int64, Int64)])
  func partSize(_ wanted: Int64, _ size: Int64, _ expected: Int64) {
    #expect(MultipartPlan.partSize(wanted: wanted, size: size) == expected)
    #expect(MultipartPlan(size: size, partSize: expected).count <= 10_000)
  }

  @Test("parts cover the file, the last one is what is left, an empty file is one empty part")
  func ranges() throws {
    let plan = MultipartPlan(size: 25, partSize: 10)
    #expect((1...plan.count).map(plan.range) == [0..<10, 10..<20, 20..<25])
    #expect(MultipartPlan(size: 20, partSize: 10).count == 2)
    #expect(throws: Failure.self) { try MultipartPlan.checked(size: 10_001, partSize: 1) }
    #expect(try MultipartPlan.checked(size: 10_000, partSize: 1).count == 10_000)
    let empty = MultipartPlan(size: 0, partSize: 10)
    #expect(empty.count == 1 && empty.range(of: 1) == 0..<0)
  }

  @Test("a page of ListParts is read with its marker")
  func listing() {
    let text = """
      <?xml version="1.0"?><ListPartsResult xmlns="x"><IsTruncated>true</IsTruncated>
      <NextPartNumberMarker>2</NextPartNumberMarker><Part><PartNumber>1</PartNumber><ETag>&quot;aa&quot;</ETag>
      <Size>5</Size></Part><Part><PartNumber>x</PartNumber></Part>
      <Part><ETag>"bb"</ETag><PartNumber>2</PartNumber><Size>7</Size></Part></ListPartsResult>
      """
    let page = S3Listing(Array(text.utf8))
    #expect(page.parts.map(\.number) == [1, 2])
    #expect(page.parts.map(\.etag) == ["aa", "bb"])
    #expect(page.parts.map(\.size) == [5, 7])
    #expect(page.nextMarker == 2)
    #expect(S3Listing(Array(text.replacing("true", with: "false").utf8)).nextMarker == nil)
  }

  @Test("only uploads of the very key are ours")
  func uploads() {
    let text = """
      <R><Upload><Key>a&amp;b</Key><UploadId>1</UploadId></Upload>\
      <Upload><Key>a&amp;bc</Key><UploadId>2</UploadId></Upload></R>
      """
    #expect(S3Listing.uploads(Array(text.utf8), key: "a&b") == ["1"])
  }

  @Test("a tag is compared where it can be a digest")
  func tags() throws {
    let md5 = "d41d8cd98f00b204e9800998ecf8427e"
    #expect(ETag.matches(md5.uppercased(), md5: md5) == true)
    #expect(["\"a\"", "W/\"a\"", "a"].map(ETag.ofPart) == ["a", "a", "a"])
    #expect(ETag.matches("0" + md5.dropFirst(), md5: md5) == false)
    for tag in [nil, "", "5f-3", md5 + "-2", "zz" + md5.dropFirst(2)] { #expect(ETag.matches(tag, md5: md5) == nil) }
    // By `openssl md5` of the two binary digests.
    #expect(try ETag.ofParts([md5, md5]) == "5873dd45edd01f09c1ef2e7819369e8e-2")
    #expect(ETag.isHidden(HTTPResponse(status: 200, headers: [HTTPHeader("X-Amz-Server-Side-Encryption", "aws:kms")])))
    #expect(!ETag.isHidden(HTTPResponse(status: 200, headers: [HTTPHeader("x-amz-server-side-encryption", "AES256")])))
  }

  @Test(
    "the object's place by style",
    arguments: [
      ("https://s3.test", true, "https://s3.test/b/a%20b/%2B.jpg", "s3.test"),
      ("https://s3.test:443", false, "https://b.s3.test/a%20b/%2B.jpg", "b.s3.test"),
      ("http://h:8333", true, "http://h:8333/b/a%20b/%2B.jpg", "h:8333"),
    ])
  func place(_ endpoint: String, _ pathStyle: Bool, _ url: String, _ host: String) {
    let object = S3Object(endpoint: endpoint, region: "r", bucket: "b", key: "a b/+.jpg", pathStyle: pathStyle)
    #expect(object.url == url)
    #expect(object.host == host)
    #expect(S3Object(object.fields) == object)
  }

  @Test(
    "a credential of the wrong shape names its place",
    arguments: [
      (
        #"{"endpoint":"http://h/x","region":"r","bucket":"b","key":"k","accessKeyId":"a","secretAccessKey":"s"}"#,
        "/endpoint"
      ),
      (
        #"{"endpoint":"http://h","region":"r","bucket":"b","key":"a/../k","accessKeyId":"a","secretAccessKey":"s"}"#,
        "/key"
      ),
      (#"{"endpoint":"http://h","region":"r","bucket":"b","key":"k","accessKeyId":"a"}"#, "/secretAccessKey"),
      (#"{"parts":[{"number":0,"url":"http://h"}]}"#, "/parts/0/number"),
      (#"{"parts":[],"uploadId":"u","partSize":5,"completeUrl":"x","publicUrl":"p"}"#, "/completeUrl"),
      (#"{"parts":[],"uploadId":"u","partSize":5,"completeUrl":"http://h"}"#, "/publicUrl"),
    ])
  func shape(_ text: String, _ pointer: String) throws {
    var fields = try JSONReader(try JSONParser.parse(text)).object()
    let error = #expect(throws: JSONShapeError.self) { try MultipartCredential.parse(&fields) }
    #expect(error?.pointer == pointer)
  }

  @Test("a form has its fields in order and the file last")
  func form() {
    let credential = FormCredential(
      url: "http://h", fields: [.init(name: "key", value: "a/b"), .init(name: "x\"\r\n", value: "ü")],
      fileField: "file", publicUrl: "p")
    let form = FormEndpoint.frame(credential, fileName: "file", mime: "image/jpeg", boundary: "B")
    let head = String(decoding: form.head, as: UTF8.self)
    #expect(
      head == "--B\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\na/b\r\n"
        + "--B\r\nContent-Disposition: form-data; name=\"x%22%0D%0A\"\r\n\r\nü\r\n"
        + "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"file\"\r\nContent-Type: image/jpeg\r\n\r\n")
    #expect(String(decoding: form.tail, as: UTF8.self) == "\r\n--B--\r\n")
    #expect(form.contentType == "multipart/form-data; boundary=B")
  }
}
