import Digest
import HTTP
import TaskModel

// Send what is missing.

extension MultipartEndpoint {
  /// One part, or a few at once where upload slots are free.
  func append(from offset: Int64, progress report: @escaping UploadProgress) async throws -> Int64 {
    if progress.withLock({ $0.isWhole }) { return try await putWhole(report) }
    let (plan, have) = progress.withLock { ($0.plan, $0.parts) }
    let missing = Array((1...plan.count).lazy.filter { have[$0] == nil }.prefix(Self.maximumPartsAtOnce))[...]
    try await send(missing, SentBytes(held: heldBytes, report))
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
      guard let etag = response.header("ETag").map(ETag.ofPart), !etag.isEmpty else {
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
      if let failure = StorageAnswer.page(response, host: place.host) { throw failure }
      let etag = response.header("ETag").map(ETag.bare)
      if ETag.matches(etag, md5: export.md5) == false, !ETag.isHidden(response) {
        throw StorageAnswer.otherBytes(place.host)
      }
      progress.withLock { $0.wholeTag = etag }
    }
    return export.size
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
