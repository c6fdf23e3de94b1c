import Digest
import HTTP
import TaskModel

// Send what is missing.

extension MultipartEndpoint {
  /// Sends parts until none is missing, or the credential is about to expire.
  func append(from offset: Int64, progress report: @escaping UploadProgress) async throws -> Int64 {
    if progress.withLock({ $0.isWhole }) { return try await putWhole(report) }
    let (plan, have) = progress.withLock { ($0.plan, $0.parts) }
    try await send((1...plan.count).filter { have[$0] == nil }, SentBytes(held: heldBytes, report))
    return heldBytes
  }

  /// Keeps the connections busy: while parts are in the air, the MD5 of the next one is made, so that it can follow at once.
  /// Looks up whenever one has arrived: a borrowed connection is given back and asked for again, so that whoever waits for
  /// a slot gets it after one part, and a credential that is about to expire brings no further one.
  private func send(_ missing: [Int], _ sent: SentBytes) async throws {
    var rest = missing[...]
    var next: DigestedPart?
    var isDigesting = false
    var isEnding = false
    var connections = PartConnections(lender: tools.lender)
    try await withThrowingTaskGroup(of: PartEvent.self) { group in
      while true {
        if let part = next, let connection = connections.take() {
          next = nil
          group.addTask {
            defer { connection.giveBack() }
            try await self.sendPart(part, sent)
            return .sent(connection)
          }
        }
        if next == nil, !isDigesting, !isEnding, let number = rest.popFirst() {
          isDigesting = true
          group.addTask { .digested(try await self.digest(number)) }
        }
        switch try await group.next() {
        case .digested(let part):
          isDigesting = false
          if !isEnding { next = part }
        case .sent(let connection):
          connections.noteFree(connection)
          if await watch.isExpiring() {
            isEnding = true
            next = nil
          }
        // Nothing is in the air, and nothing is left to send.
        case nil: return
        }
      }
    }
  }

  private func digest(_ number: Int) async throws -> DigestedPart {
    let range = progress.withLock { $0.plan.range(of: number) }
    return DigestedPart(number: number, range: range, md5: try await PartDigest.md5(of: file.file, range))
  }

  private func sendPart(_ part: DigestedPart, _ sent: SentBytes) async throws {
    try await retryingBadDigest(
      first: { try await sendOnce(part, sent) },
      // Read anew: the digest may have been the wrong one.
      again: { try await sendOnce(try await digest(part.number), sent) })
  }

  private func sendOnce(_ part: DigestedPart, _ sent: SentBytes) async throws {
    let id = progress.withLock { $0.uploadId ?? "" }
    let md5 = Hex.text(part.md5)
    let body = HTTPBody.file(FileBody(file.file, offset: part.range.lowerBound, length: Int64(part.range.count)))
    let response = try await call(
      .part(part.number, uploadId: id), headers: [HTTPHeader("Content-MD5", Base64.text(part.md5))], body: body,
      progress: { sent.note($0, of: part.number) })
    // S3 always gives one; without it Complete has nothing to name.
    guard let etag = response.header("ETag").map(ETag.ofPart), !etag.isEmpty else {
      throw Failure(.badAnswer, "storage took a part and gave it no ETag", remedy: .retry)
    }
    if ETag.matches(etag, md5: md5) == false, !ETag.isHidden(response) { throw StorageAnswer.otherBytes(place.host) }
    note(part.number, md5: md5, etag: etag)
  }

  private func putWhole(_ report: @escaping UploadProgress) async throws -> Int64 {
    let export = file.export
    var headers = [HTTPHeader("Content-Type", export.mime), HTTPHeader(Self.tokenHeader, token)]
    if let md5 = Hex.bytes(export.md5) { headers.append(HTTPHeader("Content-MD5", Base64.text(md5))) }
    func sendOnce() async throws {
      let body = HTTPBody.file(FileBody(file.file, length: export.size))
      let response = try await call(.put, headers: headers, body: body, sha256: export.sha256, progress: report)
      if let failure = StorageAnswer.page(response, host: place.host) { throw failure }
      let etag = response.header("ETag").map(ETag.bare)
      if ETag.matches(etag, md5: export.md5) == false, !ETag.isHidden(response) {
        throw StorageAnswer.otherBytes(place.host)
      }
      progress.withLock { $0.wholeTag = etag }
    }
    try await retryingBadDigest(first: sendOnce, again: sendOnce)
    return export.size
  }

  /// Bytes that were changed on the way come better the next time. Twice is no accident: the file is not what it was.
  private func retryingBadDigest(first: () async throws -> Void, again: () async throws -> Void) async throws {
    do {
      try await first()
    } catch let failure as Failure where failure.isBadDigest {
      try await again()
    }
  }
}

private struct DigestedPart: Sendable {
  let number: Int
  let range: Range<Int64>
  let md5: [UInt8]
}

private enum PartEvent: Sendable {
  case digested(DigestedPart)
  case sent(PartConnections.Connection)
}
