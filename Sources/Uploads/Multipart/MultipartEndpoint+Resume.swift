import Answers
import Digest
import HTTP
import JSON
import TaskModel

// Begin an upload, or find what became of the one that was begun.

extension MultipartEndpoint {
  func find(_ saved: JSONObject) async throws -> FoundUpload {
    guard place.isPlace(of: saved), let partSize = saved["partSize"]?.int, partSize > 0 else { return .lost }
    guard saved["fileVersion"]?.int == file.version else { throw UploadFile.changed }
    let plan = try MultipartPlan.checked(size: file.export.size, partSize: partSize)
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
    let plan = try MultipartPlan.checked(
      size: file.export.size, partSize: place.partSize(tools, file.export.size))
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
    do {
      return S3Listing.uploads(try await call(.listUploads).body, key: place.key).last
    } catch let failure as Failure where failure.remedy != .retry {
      // Whoever may write need not be allowed to list; then it stays for the bucket's lifecycle rule.
      return nil
    }
  }

  /// - Returns: nil where the server does not know the upload.
  private func listParts(_ id: String) async throws -> [S3Listing.Part]? {
    var parts: [S3Listing.Part] = []
    var marker: Int?
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
      // A marker that does not grow would go round for ever.
      marker = page.nextMarker.flatMap { $0 > marker ?? 0 ? $0 : nil }
    } while marker != nil
    return parts
  }

  /// The object, if it is there and the one that this upload was to make.
  func finishedObject() async throws -> UploadResult? {
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
    guard response.int("Content-Length") == file.export.size else { return nil }
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
}
