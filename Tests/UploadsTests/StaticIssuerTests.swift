import JSON
import TaskConfig
import TaskModel
import Testing

@testable import Uploads

@Suite("Credentials from the config")
struct StaticIssuerTests {
  private static let upload = #"""
    "protocol":"multipart","endpoint":"https://s3.test/","bucket":"media","accessKeyId":"k","secretAccessKey":"s"
    """#

  private func read(_ upload: String) throws -> Config {
    let text = #"""
      {"destinations":{"b":{"credential":{"type":"static","upload":{\#(upload)}},"delivery":{"type":"journal","path":"/j"}}}}
      """#
    return try ConfigReader.read(try JSONParser.parse(text)) { reader throws(JSONShapeError) in
      try reader.nonEmptyString()
    }
  }

  @Test("a bucket is read with its defaults")
  func reads() throws {
    guard case .fixed(.bucket(let bucket))? = try read(Self.upload).destinations["b"]?.credential else {
      Issue.record("no bucket")
      return
    }
    #expect(
      bucket
        == StaticUpload.Bucket(
          endpoint: "https://s3.test", region: "us-east-1", name: "media", accessKeyId: "k", secretAccessKey: "s"))
  }

  @Test(
    "what is wrong is named by its place",
    arguments: [
      (#""endpoint":"https://s3.test/x","#, "/endpoint"), (#""endpoint":"s3.test","#, "/endpoint"),
      (#""keyPrefix":"/a","#, "/keyPrefix"), (#""keyPrefix":"a/../b","#, "/keyPrefix"),
      (#""protocol":"put","#, "/protocol"), (#""pathStyle":"yes","#, "/pathStyle"), (#""x":1,"#, "/x"),
    ])
  func refuses(_ field: String, _ pointer: String) {
    let name = field.split(separator: ":")[0]
    let others = Self.upload.split(separator: ",").filter { !$0.hasPrefix(name) }.joined(separator: ",")
    let error = #expect(throws: JSONShapeError.self) { try read(field + others) }
    #expect(error?.pointer == "/destinations/b/credential/upload" + pointer)
  }

  @Test("key and public URL come from the task; a name stays one segment, and a URL is encoded")
  func places() throws {
    let fixture = try Fixture(sizes: [1], name: "../é?.jpg", account: "a/b")
    let bucket = StaticUpload.Bucket(
      endpoint: "https://s3.test", region: "r", name: "media", keyPrefix: "{account}/{kind}/", accessKeyId: "k",
      secretAccessKey: "s", publicUrl: "https://cdn.test/{account}/{key}")
    let answer = StaticIssuer(upload: .bucket(bucket)).answer(CredentialRequest(fixture.task, isRenewal: false))
    guard case .multipart(.signedHere(let credential))? = answer.uploads[0] else {
      Issue.record("no credential")
      return
    }
    #expect(credential.object.key == "a_b/feedPost/0190-task/0-.._é?.jpg")
    #expect(credential.publicUrl == "https://cdn.test/a_b/a_b/feedPost/0190-task/0-.._%C3%A9%3F.jpg")
  }
}
