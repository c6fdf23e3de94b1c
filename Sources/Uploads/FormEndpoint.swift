import HTTP
import JSON
import Platform
import Synchronization
import TaskModel

/// The right to post one file as a form, as S3's POST policies give it.
struct FormCredential: Sendable, Hashable {
  struct Field: Sendable, Hashable {
    var name: String
    var value: String
  }

  var url: String
  /// In the order of the service's answer.
  var fields: [Field]
  var fileField: String
  var publicUrl: String

  static func parse(_ reader: inout JSONFields) throws(JSONShapeError) -> FormCredential {
    var fields: [Field] = []
    if let object = reader.optional("fields") {
      for (name, value) in try object.members() { fields.append(Field(name: name, value: try value.string())) }
    }
    return FormCredential(
      url: try reader.required("url").webURL(), fields: fields,
      fileField: try reader.optional("fileField")?.nonEmptyString() ?? "file",
      publicUrl: try reader.required("publicUrl").nonEmptyString())
  }
}

/// Protocol `form`: one POST of multipart/form-data (RFC 7578). Nothing to resume: the key is fixed by the fields, so the
/// same form again, after an answer that was lost, replaces equal bytes.
final class FormEndpoint: UploadEndpoint {
  static let name = "form"

  private let credential: FormCredential
  private let upload: UploadFile
  private let tools: UploadTools
  private let etag = Mutex<String?>(nil)

  init(_ credential: FormCredential, _ upload: UploadFile, _ tools: UploadTools) {
    self.credential = credential
    self.upload = upload
    self.tools = tools
  }

  func append(from offset: Int64, progress: @escaping UploadProgress) async throws -> Int64 {
    // A boundary that no file holds by accident.
    let form = Self.frame(
      credential, fileName: "file", mime: upload.export.mime, boundary: "taskcenter-" + RandomName.make())
    let head = Int64(form.head.count)
    let size = upload.export.size
    let request = HTTPRequest(
      "POST", url: credential.url, headers: [HTTPHeader("Content-Type", form.contentType)],
      body: .framed(form.head, FileBody(upload.file, length: size), form.tail))
    // 303 is what S3 answers where the policy names a page for browsers (success_action_redirect).
    let tag = try await WholeFileRequest.send(
      request, md5: upload.export.md5, tools, isDone: { $0.status == 303 },
      progress: { progress(min(size, max(0, $0 - head))) })
    etag.withLock { $0 = tag }
    return size
  }

  func finish() async throws -> UploadResult {
    UploadResult(url: credential.publicUrl, etag: etag.withLock { $0 }, uploadProtocol: Self.name)
  }

  /// What stands around the file. S3 ignores every field after the file, so it is the last one.
  static func frame(
    _ credential: FormCredential, fileName: String, mime: String, boundary: String
  ) -> (contentType: String, head: [UInt8], tail: [UInt8]) {
    var head = ""
    for field in credential.fields {
      head +=
        "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(quoted(field.name))\"\r\n\r\n\(field.value)\r\n"
    }
    head += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(quoted(credential.fileField))\"; "
    head += "filename=\"\(quoted(fileName))\"\r\nContent-Type: \(mime)\r\n\r\n"
    return ("multipart/form-data; boundary=\(boundary)", Array(head.utf8), Array("\r\n--\(boundary)--\r\n".utf8))
  }

  /// As browsers do it (WHATWG HTML, "multipart/form-data encoding algorithm").
  private static func quoted(_ name: String) -> String {
    name.reduce(into: "") { output, character in
      switch character {
      case "\"": output += "%22"
      case "\r": output += "%0D"
      case "\n": output += "%0A"
      case "\r\n": output += "%0D%0A"
      default: output.append(character)
      }
    }
  }
}
