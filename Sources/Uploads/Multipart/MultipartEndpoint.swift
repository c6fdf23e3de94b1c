import Answers
import Digest
import HTTP
import JSON
import Synchronization
import TaskModel

/// Protocol `multipart`: S3's multipart upload, by presigned URLs or signed here; also of what looks like S3.
///
/// 1. What is needed to go on (upload id, part size, where) is durable before the first byte goes out; signed here, even
///    before the upload is begun, so that one whose id got lost in a crash is found by its key.
/// 2. A part goes up with its MD5, which the server checks, and counts when the tag of the answer agrees.
/// 3. Going on, ListParts is the truth: a part counts if its size and its tag are those of our bytes; the others are sent
///    again. Parts are never cut anew within one upload.
/// 4. "No such upload" can also mean that the Complete arrived and its answer did not: the object itself is looked at. It is
///    ours if its size is right and it has our token (written into it when the upload was begun) or the tag that our parts
///    must give. That an object exists is no proof.
/// 5. A Complete that is answered 200 may still hold an error; its body decides.
final class MultipartEndpoint<Door: MultipartDoor>: UploadEndpoint {
  static var name: String { MultipartName.text }

  /// Under which the token stands in the object's metadata.
  static var tokenHeader: String { "x-amz-meta-taskcenter" }

  struct Progress {
    var uploadId: String?
    var plan: MultipartPlan
    /// MD5 in hex of the parts that the server has, and the tags it gave them, by number.
    var parts: [Int: (md5: String, etag: String)] = [:]
    /// A small file goes up in one request; this is its tag.
    var isWhole = false
    var wholeTag: String?
    var md5OfParts: [Int: String] = [:]
  }

  let door: Door
  let place: MultipartPlace
  let file: UploadFile
  let tools: UploadTools
  let token: String
  let watch: UploadWatch
  let progress: Mutex<Progress>

  /// - Parameters:
  ///   - place: which upload this is about, as it is saved.
  ///   - token: of the task's resource.
  ///   - watch: asked between parts whether the credential will do for another one.
  init(
    _ door: Door, _ place: MultipartPlace, _ file: UploadFile, token: String, _ tools: UploadTools, _ watch: UploadWatch
  ) {
    self.door = door
    self.place = place
    self.file = file
    self.tools = tools
    self.watch = watch
    // Another content of the same resource is another object.
    self.token = "\(token)/\(file.export.md5)"
    progress = Mutex(
      Progress(plan: MultipartPlan(size: file.export.size, partSize: place.partSize(tools, file.export.size))))
  }

  // MARK: Finish

  func finish() async throws -> UploadResult {
    let (isWhole, wholeTag) = progress.withLock { ($0.isWhole, $0.wholeTag) }
    if isWhole { return result(etag: wholeTag) }
    try file.checkUnchanged()
    let (id, parts) = progress.withLock { ($0.uploadId ?? "", $0.parts.sorted { $0.key < $1.key }) }
    let list = parts.map { number, part in
      "<Part><PartNumber>\(number)</PartNumber><ETag>&quot;\(S3XML.escape(part.etag))&quot;</ETag></Part>"
    }
    let body = "<CompleteMultipartUpload>\(list.joined())</CompleteMultipartUpload>"
    let response = try await call(
      .complete(uploadId: id), headers: [HTTPHeader("Content-Type", "application/xml")], body: .data(Array(body.utf8)))
    let document = S3XML.document(response.body)
    guard S3XML.hasRoot("CompleteMultipartUploadResult", document) else {
      // Neither a result nor an error: somebody on the way answered, perhaps.
      if let result = try await finishedObject() { return result }
      throw Failure(.badAnswer, "storage did not say whether it joined the parts", remedy: .resume)
    }
    return result(etag: S3XML.text("ETag", in: document).map(ETag.bare))
  }

  func result(etag: String?) -> UploadResult {
    UploadResult(url: door.publicUrl, etag: etag, uploadProtocol: Self.name)
  }

  func note(_ number: Int, md5: String, etag: String) {
    progress.withLock {
      $0.parts[number] = (md5, etag)
      $0.md5OfParts[number] = md5
    }
  }

  var heldBytes: Int64 {
    progress.withLock { progress in
      progress.parts.keys.reduce(0) { $0 + Int64(progress.plan.range(of: $1).count) }
    }
  }

  // MARK: Calls

  func call(
    _ call: MultipartCall, headers: [HTTPHeader] = [], body: HTTPBody = .none, sha256: String? = nil,
    progress: UploadProgress? = nil
  ) async throws -> HTTPResponse {
    let response = try await Self.attempt {
      try await door.send(call, headers: headers, body: body, sha256: sha256, progress: progress)
    }
    guard let response else {
      throw Failure(.badAnswer, "the credential lacks a URL that the upload needs", remedy: .giveUp)
    }
    if let failure = StorageAnswer.failure(response, host: place.host) { throw failure }
    return response
  }

  static func attempt<T>(_ body: () async throws -> T) async throws -> T {
    do {
      return try await body()
    } catch let error as HTTPError {
      throw StatusMap.failure(error)
    }
  }
}

enum MultipartName {
  static let text = "multipart"
}
