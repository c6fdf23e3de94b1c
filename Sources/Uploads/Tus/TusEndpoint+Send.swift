import Digest
import HTTP
import JSON
import TaskModel

// Send what is missing, piece by piece.

extension TusEndpoint {
  func append(from offset: Int64, progress: @escaping UploadProgress) async throws -> Int64 {
    let taken = state.withLock { $0.acknowledged }
    if size == 0 { return try await finishEmpty() }
    // It went with the creation.
    guard offset >= taken, offset < size else { return taken }
    let end = min(size, offset + chunkSize)
    if end == size { try await noteLast() }
    let features = try await features()
    let url = state.withLock { $0.url }
    var headers = [HTTPHeader("Upload-Offset", String(offset))]
    headers += try await bodyHeaders(offset..<end, features.checksum)
    let body = HTTPBody.file(FileBody(file.file, offset: offset, length: end - offset))
    let response = try await send("PATCH", url, headers, body) { progress(offset + $0) }
    guard let now = response.int("Upload-Offset"), now >= offset, now <= size else {
      throw contradiction
    }
    state.withLock { $0.acknowledged = now }
    return now
  }

  /// Bytes that were changed on the way (460) come better the next time; three times is no accident.
  func send(
    _ method: String, _ url: String, _ headers: [HTTPHeader], _ body: HTTPBody, progress: UploadProgress? = nil
  ) async throws -> HTTPResponse {
    var mismatches = 0
    while true {
      let response = try await door.call(method, url, headers: headers, body: body, progress: progress)
      guard let failure = door.failure(response, url) else { return response }
      guard response.status == 460, mismatches < 2 else { throw failure }
      mismatches += 1
    }
  }

  /// An empty upload is complete with its creation, says the specification; SeaweedFS wants to be told so.
  private func finishEmpty() async throws -> Int64 {
    let headers = [HTTPHeader("Upload-Offset", "0"), HTTPHeader("Content-Type", Self.contentType)]
    let response = try await door.call("PATCH", state.withLock { $0.url }, headers: headers)
    // The others have put it away already.
    if ![403, 404, 409, 410].contains(response.status), let failure = door.failure(response, credential.endpoint) {
      throw failure
    }
    return 0
  }

  /// Before the last byte: if its answer is lost, the object may be there although the upload is not.
  private func noteLast() async throws {
    var fields = state.withLock { $0.fields }
    guard fields["lastSent"] == nil else { return }
    fields["lastSent"] = true
    try await save(fields)
    state.withLock { $0.fields = fields }
  }

  func bodyHeaders(_ range: Range<Int64>, _ checksum: DigestAlgorithm?) async throws -> [HTTPHeader] {
    var headers = [HTTPHeader("Content-Type", Self.contentType)]
    if let checksum {
      let digest = try await PartDigest.digest(checksum, of: file.file, range)
      headers.append(HTTPHeader("Upload-Checksum", "\(checksum.tusName) \(Base64.text(digest))"))
    }
    return headers
  }

  private static var contentType: String { "application/offset+octet-stream" }
}
