import Answers
import Digest
import HTTP
import JSON
import Synchronization
import TaskModel

/// Protocol `tus` (https://tus.io/protocols/resumable-upload, 1.0.0): creation, HEAD for the offset, PATCH.
///
/// 1. The upload's URL is durable before the first byte goes out. Only a file that costs less than the round trip to send
///    again goes with its creation, where the server takes it.
/// 2. The server's offset is the truth. More than we know of is fine: an answer was lost. Less than it has acknowledged, or
///    more than there is, is another upload than ours: a new beginning.
/// 3. An upload that is not there any more may have been finished: servers forget what is done. If the last byte had been
///    sent, the object itself is looked at.
/// 4. A locked upload (423) is waited for: some request of ours still hangs at the server.
final class TusEndpoint: UploadEndpoint {
  static let name = "tus"
  static let version = "1.0.0"
  /// Bytes that may go with the creation.
  static let smallSize: Int64 = 256 << 10
  /// Milliseconds; SeaweedFS holds a lock for 10 s after a silent connection.
  static let lockWaitMs: Int64 = 2_000

  private struct State {
    var url = ""
    /// What the server has said that it has.
    var acknowledged: Int64 = 0
    var fields = JSONObject()
    /// It was not sent in one go: its server has put pieces together.
    var isResumed = false
  }

  private let credential: TusCredential
  private let file: UploadFile
  private let name: String
  private let tools: UploadTools
  private let save: UploadSave
  private let advanced: @Sendable () async -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - name: that goes up with the file.
  ///   - advanced: told where a look finds more than was known.
  init(
    _ credential: TusCredential, _ file: UploadFile, name: String, _ tools: UploadTools, save: @escaping UploadSave,
    advanced: @escaping @Sendable () async -> Void
  ) {
    self.credential = credential
    self.file = file
    self.name = name
    self.tools = tools
    self.save = save
    self.advanced = advanced
  }

  private var size: Int64 { file.export.size }
  var heldBytes: Int64 { state.withLock { $0.acknowledged } }

  // MARK: Begin or go on

  func find(_ saved: JSONObject) async throws -> FoundUpload {
    guard let url = saved["uploadUrl"]?.string else { return .lost }
    guard saved["fileVersion"]?.int == file.version else { throw UploadFile.changed }
    let known = state.withLock { $0.url == url ? $0.acknowledged : 0 }
    let response = try await call("HEAD", url)
    if response.status == 404 || response.status == 410 {
      return try await finished(saved).map { .finished($0) } ?? .lost
    }
    if let failure = failure(response, url) { throw failure }
    guard let offset = Self.number(response, "Upload-Offset") else {
      throw Failure(.badAnswer, "the tus server did not say how much it has", remedy: .retry)
    }
    if let length = Self.number(response, "Upload-Length"), length != size { return .lost }
    guard offset >= known, offset <= size else { return .lost }
    var fields = saved
    let hasAdvanced = offset > (saved["offset"]?.int ?? 0)
    fields["offset"] = .int(offset)
    state.withLock { state in
      state.url = url
      state.acknowledged = offset
      state.fields = fields
      state.isResumed = true
    }
    // An attempt that brought something does not count, also when it ends like the one before.
    if hasAdvanced, offset < size {
      try await save(fields)
      await advanced()
    }
    return .holds(offset)
  }

  func create(save: @escaping UploadSave) async throws {
    let features = try await features()
    if let maxSize = features.maxSize, size > maxSize {
      throw Failure(.rejected, "\(host) takes files up to \(maxSize) bytes, this one has \(size)", remedy: .giveUp)
    }
    let isWhole = features.takesFileAtCreation && size <= min(Self.smallSize, chunkSize)
    var headers = [
      HTTPHeader("Upload-Length", String(size)),
      HTTPHeader("Upload-Metadata", TusMetadata.text(credential.metadata, name: name, mime: file.export.mime)),
    ]
    var body = HTTPBody.none
    if isWhole, size > 0 {
      headers += try await bodyHeaders(0..<size, features.checksum)
      body = .file(FileBody(file.file, length: size))
    }
    let response = try await send("POST", credential.endpoint, headers, body)
    guard let location = response.header("Location"),
      let url = TusLocation.resolve(location, against: credential.endpoint)
    else { throw Failure(.badAnswer, "\(host) began an upload and did not say where", remedy: .giveUp) }
    let taken = isWhole ? Self.number(response, "Upload-Offset") ?? 0 : 0
    guard (0...size).contains(taken) else { throw Self.contradiction(host) }
    var fields = JSONObject([("uploadUrl", .string(url)), ("fileVersion", .int(file.version))])
    // Saved once for a file of one piece.
    if size <= chunkSize { fields["lastSent"] = true }
    if taken < size || size == 0 { try await save(fields) }
    state.withLock { $0 = State(url: url, acknowledged: taken, fields: fields) }
  }

  private func features() async throws -> TusFeatures {
    try await tools.tusServers.features(request("OPTIONS", credential.endpoint), tools.http)
  }

  // MARK: Send

  private var chunkSize: Int64 { tools.settings.partSize }

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
    guard let now = Self.number(response, "Upload-Offset"), now >= offset, now <= size else {
      throw Self.contradiction(host)
    }
    state.withLock { $0.acknowledged = now }
    return now
  }

  /// Bytes that were changed on the way (460) come better the next time; three times is no accident.
  private func send(
    _ method: String, _ url: String, _ headers: [HTTPHeader], _ body: HTTPBody, progress: UploadProgress? = nil
  ) async throws -> HTTPResponse {
    var mismatches = 0
    while true {
      let response = try await call(method, url, headers: headers, body: body, progress: progress)
      guard let failure = failure(response, url) else { return response }
      guard response.status == 460, mismatches < 2 else { throw failure }
      mismatches += 1
    }
  }

  /// An empty upload is complete with its creation, says the specification; SeaweedFS wants to be told so.
  private func finishEmpty() async throws -> Int64 {
    let headers = [HTTPHeader("Upload-Offset", "0"), HTTPHeader("Content-Type", Self.contentType)]
    let response = try await call("PATCH", state.withLock { $0.url }, headers: headers)
    // The others have put it away already.
    if ![403, 404, 409, 410].contains(response.status), let failure = failure(response, credential.endpoint) {
      throw failure
    }
    return 0
  }

  private static let contentType = "application/offset+octet-stream"

  /// Before the last byte: if its answer is lost, the object may be there although the upload is not.
  private func noteLast() async throws {
    var fields = state.withLock { $0.fields }
    guard fields["lastSent"] == nil else { return }
    fields["lastSent"] = true
    try await save(fields)
    state.withLock { $0.fields = fields }
  }

  private func bodyHeaders(_ range: Range<Int64>, _ checksum: DigestAlgorithm?) async throws -> [HTTPHeader] {
    var headers = [HTTPHeader("Content-Type", Self.contentType)]
    if let checksum {
      let digest = try await PartDigest.digest(checksum, of: file.file, range)
      headers.append(HTTPHeader("Upload-Checksum", "\(checksum.tusName) \(Base64.text(digest))"))
    }
    return headers
  }

  // MARK: Finish

  func finish() async throws -> UploadResult {
    try file.checkUnchanged()
    let now = state.withLock { $0 }
    guard now.acknowledged == size else { throw Self.contradiction(host) }
    // A server that lost or doubled a piece when it was killed says a right offset all the same.
    if now.isResumed, let found = try await objectSize(), found != size {
      throw Failure(.uploadLost, "\(host) has put together \(found) bytes of \(size)", remedy: .retry)
    }
    return result(now.url)
  }

  /// A tus server's ETag is of nothing in general.
  private func result(_ url: String) -> UploadResult {
    UploadResult(url: credential.publicUrl ?? url, uploadProtocol: Self.name)
  }

  private func finished(_ saved: JSONObject) async throws -> UploadResult? {
    guard saved["lastSent"] != nil, let url = saved["uploadUrl"]?.string, try await objectSize() == size else {
      return nil
    }
    return result(url)
  }

  /// Bytes of the object where it is read; nil where that is not known, or it can't be seen from here.
  private func objectSize() async throws -> Int64? {
    guard let url = credential.publicUrl, url.lowercased().hasPrefix("http") else { return nil }
    var request = HTTPRequest("HEAD", url: url)
    apply(to: &request)
    do {
      let response = try await tools.http.send(request)
      guard response.status == 200 else { return nil }
      return Self.number(response, "Content-Length")
    } catch let error as HTTPError {
      // The same server may go on another time; where objects are read may be out of reach from here for ever.
      guard request.origin == HTTPRequest("HEAD", url: credential.endpoint).origin else { return nil }
      throw StatusMap.failure(error)
    }
  }

  // MARK: Calls

  private var host: String { HTTPRequest("POST", url: credential.endpoint).host }

  private func call(
    _ method: String, _ url: String, headers: [HTTPHeader] = [], body: HTTPBody = .none,
    progress: UploadProgress? = nil
  ) async throws -> HTTPResponse {
    var request = request(method, url, headers)
    request.body = body
    request.isRepeatable = method != "PATCH"
    do {
      return try await tools.http.send(request, progress: progress)
    } catch let error as HTTPError {
      var failure = StatusMap.failure(error)
      // A PATCH, as the others have been sent again: what came of it the server knows, and can be asked at once.
      if error.keptConnectionDied { failure.remedy = .resume }
      throw failure
    }
  }

  private func request(_ method: String, _ url: String, _ headers: [HTTPHeader] = []) -> HTTPRequest {
    var request = TusCall.request(method, url, credential)
    request.headers += headers
    apply(to: &request)
    return request
  }

  private func apply(to request: inout HTTPRequest) {
    request.stallTimeoutMs = tools.settings.stallTimeoutMs
    request.connectTimeoutMs = tools.settings.connectTimeoutMs
  }

  private func failure(_ response: HTTPResponse, _ url: String) -> Failure? {
    TusCall.failure(response, host: HTTPRequest("POST", url: url).host, isCreation: url == credential.endpoint)
  }

  private static func number(_ response: HTTPResponse, _ name: String) -> Int64? {
    response.header(name).flatMap { Int64($0) }
  }

  private static func contradiction(_ host: String) -> Failure {
    Failure(.badAnswer, "\(host) contradicts itself about how much it has", remedy: .resume)
  }
}
