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
  private static var tokenHeader: String { "x-amz-meta-taskcenter" }

  private struct Progress {
    var uploadId: String?
    var plan: MultipartPlan
    /// MD5 in hex of the parts that the server has, and the tags it gave them, by number.
    var parts: [Int: (md5: String, etag: String)] = [:]
    /// A small file goes up in one request; this is its tag.
    var isWhole = false
    var wholeTag: String?
    var md5OfParts: [Int: String] = [:]
  }

  private let door: Door
  private let place: MultipartPlace
  private let file: UploadFile
  private let tools: UploadTools
  private let token: String
  private let progress: Mutex<Progress>

  /// - Parameters:
  ///   - place: which upload this is about, as it is saved.
  ///   - token: of the task's resource.
  init(_ door: Door, _ place: MultipartPlace, _ file: UploadFile, token: String, _ tools: UploadTools) {
    self.door = door
    self.place = place
    self.file = file
    self.tools = tools
    // Another content of the same resource is another object.
    self.token = "\(token)/\(file.export.md5)"
    progress = Mutex(
      Progress(plan: MultipartPlan(size: file.export.size, partSize: place.partSize(tools, file.export.size))))
  }

  // MARK: Begin or go on

  func find(_ saved: JSONObject) async throws -> FoundUpload {
    guard place.isPlace(of: saved), let partSize = saved["partSize"]?.int, partSize > 0 else { return .lost }
    guard saved["fileVersion"]?.int == file.version else { throw UploadFile.changed }
    let plan = MultipartPlan(size: file.export.size, partSize: partSize)
    var id = saved["uploadId"]?.string
    if id == nil { id = try await openUpload() }
    guard let id else { return .lost }
    progress.withLock {
      $0.uploadId = id
      $0.plan = plan
      $0.parts = [:]
    }
    guard let listed = try await listParts(id) else {
      return try await finishedObject().map(FoundUpload.finished) ?? .lost
    }
    for part in listed where (1...plan.count).contains(part.number) {
      let range = plan.range(of: part.number)
      guard part.size == Int64(range.count), ETag.matches(part.etag, md5: part.etag.lowercased()) == true else {
        continue
      }
      let md5 = Hex.text(try await PartDigest.md5(of: file.file, range))
      progress.withLock { $0.md5OfParts[part.number] = md5 }
      if ETag.matches(part.etag, md5: md5) == true { note(part.number, md5: md5, etag: part.etag) }
    }
    return .holds(heldBytes)
  }

  func create(save: @escaping UploadSave) async throws {
    let plan = MultipartPlan(size: file.export.size, partSize: place.partSize(tools, file.export.size))
    let isWhole = place.presignedId == nil && plan.count == 1
    let hadUpload = progress.withLock { progress in
      defer { progress = Progress(plan: plan, isWhole: isWhole) }
      return progress.uploadId != nil
    }
    guard !isWhole else { return }
    var fields = place.fields
    fields["partSize"] = .int(plan.partSize)
    fields["fileVersion"] = .int(file.version)
    var id = place.presignedId
    if id == nil {
      try await save(fields)
      id = try await createUpload()
    } else if hadUpload {
      // The service has begun one upload, and it is gone: only the service can begin another.
      throw Failure(.uploadLost, "the upload that the credential is for does not exist", remedy: .refreshCredential)
    }
    fields["uploadId"] = id.map(JSONValue.string)
    try await save(fields)
    progress.withLock { $0.uploadId = id }
  }

  private func createUpload() async throws -> String {
    let headers = [HTTPHeader("Content-Type", file.export.mime), HTTPHeader(Self.tokenHeader, token)]
    let response = try await call(.create, headers: headers)
    let body = S3XML.document(response.body)
    guard let id = S3XML.text("UploadId", in: body), !id.isEmpty else {
      throw Failure(.badAnswer, "storage began an upload and did not name it", remedy: .retry)
    }
    return id
  }

  /// An upload of our key that was begun by somebody who died before its id was saved.
  private func openUpload() async throws -> String? {
    let response = try await call(.listUploads)
    return S3Listing.uploads(response.body, key: place.key).last
  }

  /// - Returns: nil where the server does not know the upload.
  private func listParts(_ id: String) async throws -> [S3Listing.Part]? {
    var parts: [S3Listing.Part] = []
    var marker: String?
    repeat {
      let response = try await Self.attempt { try await door.send(.list(uploadId: id, marker: marker)) }
      // No way to ask: what was sent is sent again.
      guard let response else { return parts }
      if let failure = StorageAnswer.failure(response, host: place.host) {
        if failure.code == .uploadLost { return nil }
        // Whoever may write need not be allowed to list.
        if place.presignedId == nil, StorageAnswer.errorCode(response.body) == "AccessDenied" { return parts }
        throw failure
      }
      let page = S3Listing(response.body)
      parts += page.parts
      // A marker that does not move would go round for ever.
      marker = page.nextMarker == marker ? nil : page.nextMarker
    } while marker != nil
    return parts
  }

  private func note(_ number: Int, md5: String, etag: String) {
    progress.withLock {
      $0.parts[number] = (md5, etag)
      $0.md5OfParts[number] = md5
    }
  }

  private var heldBytes: Int64 {
    progress.withLock { progress in
      progress.parts.keys.reduce(0) { $0 + Int64(progress.plan.range(of: $1).count) }
    }
  }

  // MARK: Send

  /// One part, or a few at once where upload slots are free.
  func append(from offset: Int64, progress report: @escaping UploadProgress) async throws -> Int64 {
    if progress.withLock({ $0.isWhole }) { return try await putWhole(report) }
    let missing = progress.withLock { progress in
      (1...progress.plan.count).filter { progress.parts[$0] == nil }.prefix(Self.maximumPartsAtOnce)
    }
    do {
      try await send(missing, SentBytes(held: heldBytes, report))
    } catch var failure as Failure {
      failure.madeProgress = heldBytes > offset
      throw failure
    }
    return heldBytes
  }

  /// Of one file: more hardly help, and each can lose its part in a crash.
  private static var maximumConnections: Int { 3 }
  /// So that borrowed connections need not wait for each other after every part.
  private static var maximumPartsAtOnce: Int { 12 }

  /// On one connection, and on others as long as there are slots that nobody else wants: each is borrowed for one part.
  private func send(_ missing: ArraySlice<Int>, _ sent: SentBytes) async throws {
    var rest = missing
    var running = 0
    var isOwnFree = true
    let lender = tools.lender
    try await withThrowingTaskGroup(of: Bool.self) { group in
      while true {
        while let number = rest.first, running < Self.maximumConnections {
          let isBorrowed = !isOwnFree
          if isBorrowed, lender?.tryTake() != true { break }
          isOwnFree = false
          rest.removeFirst()
          running += 1
          group.addTask {
            defer { if isBorrowed { lender?.giveBack() } }
            try await self.sendPart(number, sent)
            return isBorrowed
          }
        }
        guard let wasBorrowed = try await group.next() else { return }
        running -= 1
        if !wasBorrowed { isOwnFree = true }
        // Nothing is in flight: the caller looks whether to go on.
        if running == 0 { return }
      }
    }
  }

  private func sendPart(_ number: Int, _ sent: SentBytes) async throws {
    let (plan, id) = progress.withLock { ($0.plan, $0.uploadId ?? "") }
    let range = plan.range(of: number)
    try await retryingBadDigest {
      let digest = try await PartDigest.md5(of: file.file, range)
      let md5 = Hex.text(digest)
      let body = HTTPBody.file(FileBody(file.file, offset: range.lowerBound, length: Int64(range.count)))
      let response = try await call(
        .part(number, uploadId: id), headers: [HTTPHeader("Content-MD5", Base64.text(digest))], body: body,
        progress: { sent.note($0, of: number) })
      // S3 always gives one; without it Complete has nothing to name.
      guard let etag = response.header("ETag").map(ETag.bare), !etag.isEmpty else {
        throw Failure(.badAnswer, "storage took a part and gave it no ETag", remedy: .retry)
      }
      if ETag.matches(etag, md5: md5) == false, !ETag.isHidden(response) { throw StorageAnswer.otherBytes(place.host) }
      note(number, md5: md5, etag: etag)
    }
  }

  private func putWhole(_ report: @escaping UploadProgress) async throws -> Int64 {
    let export = file.export
    var headers = [HTTPHeader("Content-Type", export.mime), HTTPHeader(Self.tokenHeader, token)]
    if let md5 = Hex.bytes(export.md5) { headers.append(HTTPHeader("Content-MD5", Base64.text(md5))) }
    try await retryingBadDigest {
      let body = HTTPBody.file(FileBody(file.file, length: export.size))
      let response = try await call(.put, headers: headers, body: body, sha256: export.sha256, progress: report)
      let etag = response.header("ETag").map(ETag.bare)
      if ETag.matches(etag, md5: export.md5) == false, !ETag.isHidden(response) {
        throw StorageAnswer.otherBytes(place.host)
      }
      progress.withLock { $0.wholeTag = etag }
    }
    return export.size
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

  private func result(etag: String?) -> UploadResult {
    UploadResult(url: door.publicUrl, etag: etag, uploadProtocol: Self.name)
  }

  /// The object, if it is there and the one that this upload was to make.
  private func finishedObject() async throws -> UploadResult? {
    let response: HTTPResponse?
    do {
      response = try await door.send(.head)
    } catch is HTTPError where place.presignedId != nil {
      // Where the object is to be read may be out of reach from here.
      return nil
    } catch let error as HTTPError {
      throw StatusMap.failure(error)
    }
    guard let response else { return nil }
    if let failure = StatusMap.failure(response, host: place.host, from: .storage) {
      if failure.remedy == .retry, place.presignedId == nil { throw failure }
      return nil
    }
    guard response.header("Content-Length").flatMap({ Int64($0) }) == file.export.size else { return nil }
    let etag = response.header("ETag").map(ETag.bare)
    if response.header(Self.tokenHeader) == token { return result(etag: etag) }
    guard let etag, etag == (try await expectedTag()) else { return nil }
    return result(etag: etag)
  }

  private func expectedTag() async throws -> String {
    let (plan, known) = progress.withLock { ($0.plan, $0.md5OfParts) }
    var md5s: [String] = []
    for number in 1...plan.count {
      if let md5 = known[number] {
        md5s.append(md5)
      } else {
        md5s.append(Hex.text(try await PartDigest.md5(of: file.file, plan.range(of: number))))
      }
    }
    return try ETag.ofParts(md5s)
  }

  // MARK: Calls

  private func call(
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

  private static func attempt<T>(_ body: () async throws -> T) async throws -> T {
    do {
      return try await body()
    } catch let error as HTTPError {
      throw StatusMap.failure(error)
    }
  }

  /// Bytes that were changed on the way come better the next time. Twice is no accident: the file is not what it was.
  private func retryingBadDigest(_ body: () async throws -> Void) async throws {
    do {
      try await body()
    } catch let failure as Failure where failure.isBadDigest {
      try await body()
    }
  }
}

enum MultipartName {
  static let text = "multipart"
}
