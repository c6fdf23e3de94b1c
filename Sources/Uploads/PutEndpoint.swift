import Digest
import HTTP
import Synchronization
import TaskConfig
import TaskModel

/// Protocol `put`: one PUT of the whole file to a URL, presigned as a rule. Nothing to resume; the same PUT again does no
/// harm.
final class PutEndpoint: UploadEndpoint {
  static let name = "put"

  private let credential: PutCredential
  private let upload: UploadFile
  private let tools: UploadTools
  private let etag = Mutex<String?>(nil)

  init(_ credential: PutCredential, _ upload: UploadFile, _ tools: UploadTools) {
    self.credential = credential
    self.upload = upload
    self.tools = tools
  }

  func append(from offset: Int64, progress: @escaping UploadProgress) async throws -> Int64 {
    do {
      try await send(progress)
    } catch let failure as Failure where failure.isBadDigest {
      // Bytes that were changed on the way come better the next time. Twice is no accident.
      try await send(progress)
    }
    return upload.export.size
  }

  private func send(_ progress: @escaping UploadProgress) async throws {
    let tag = try await WholeFileRequest.send(request(), md5: upload.export.md5, tools, progress: progress)
    etag.withLock { $0 = tag }
  }

  func finish() async throws -> UploadResult {
    UploadResult(url: credential.publicUrl, etag: etag.withLock { $0 }, uploadProtocol: Self.name)
  }

  /// The credential's headers win: they may be signed.
  private func request() -> HTTPRequest {
    let export = upload.export
    var headers = credential.headers
    func add(_ name: String, _ value: String) {
      if !headers.contains(where: { $0.name.lowercased() == name.lowercased() }) {
        headers.append(HTTPHeader(name, value))
      }
    }
    add("Content-Type", export.mime)
    // The proof on the wire: a server that knows it refuses bytes that were changed on the way.
    if let md5 = Hex.bytes(export.md5) { add("Content-MD5", Base64.text(md5)) }
    // Its own length is set from the file, never from a header.
    headers.removeAll { $0.name.lowercased() == "content-length" }
    return HTTPRequest(
      "PUT", url: credential.url, headers: headers, body: .file(FileBody(upload.file, length: export.size)))
  }
}
