import Answers
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
  /// Bytes that may go with the creation.
  private static let smallSize: Int64 = 256 << 10

  struct State {
    var url = ""
    /// What the server has said that it has.
    var acknowledged: Int64 = 0
    var fields = JSONObject()
    /// It was not sent in one go: its server has put pieces together.
    var isResumed = false
  }

  let credential: TusCredential
  let file: UploadFile
  let door: TusDoor
  let save: UploadSave
  let state = Mutex(State())
  private let name: String
  private let advanced: @Sendable () async -> Void

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
    door = TusDoor(credential: credential, tools: tools)
    self.save = save
    self.advanced = advanced
  }

  var size: Int64 { file.export.size }
  /// Bytes of one PATCH.
  var chunkSize: Int64 { door.tools.settings.partSize }
  /// For messages.
  var host: String { HTTPRequest("POST", url: credential.endpoint).host }
  var heldBytes: Int64 { state.withLock { $0.acknowledged } }

  // MARK: Begin or go on

  func find(_ saved: JSONObject) async throws -> FoundUpload {
    guard let url = saved["uploadUrl"]?.string else { return .lost }
    guard saved["fileVersion"]?.int == file.version else { throw UploadFile.changed }
    let known = state.withLock { $0.url == url ? $0.acknowledged : 0 }
    let response = try await door.call("HEAD", url)
    if response.status == 404 || response.status == 410 {
      return try await finished(saved).map { .finished($0) } ?? .lost
    }
    if let failure = door.failure(response, url) { throw failure }
    guard let offset = response.int("Upload-Offset") else {
      throw Failure(.badAnswer, "the tus server did not say how much it has", remedy: .retry)
    }
    if let length = response.int("Upload-Length"), length != size { return .lost }
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
    let taken = isWhole ? response.int("Upload-Offset") ?? 0 : 0
    guard (0...size).contains(taken) else { throw contradiction }
    var fields = JSONObject([("uploadUrl", .string(url)), ("fileVersion", .int(file.version))])
    // Saved once for a file of one piece.
    if size <= chunkSize { fields["lastSent"] = true }
    if taken < size || size == 0 { try await save(fields) }
    state.withLock { $0 = State(url: url, acknowledged: taken, fields: fields) }
  }

  func features() async throws -> TusFeatures {
    try await door.tools.tusServers.features(door.request("OPTIONS", credential.endpoint), door.tools.http)
  }

  var contradiction: Failure {
    Failure(.badAnswer, "\(host) contradicts itself about how much it has", remedy: .resume)
  }

  // MARK: Finish

  func finish() async throws -> UploadResult {
    try file.checkUnchanged()
    let now = state.withLock { $0 }
    guard now.acknowledged == size else { throw contradiction }
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
    request.setPatience(door.tools.settings)
    do {
      let response = try await door.tools.http.send(request)
      guard response.status == 200 else { return nil }
      return response.int("Content-Length")
    } catch let error as HTTPError {
      // The same server may go on another time; where objects are read may be out of reach from here for ever.
      guard request.origin == HTTPRequest("HEAD", url: credential.endpoint).origin else { return nil }
      throw StatusMap.failure(error)
    }
  }
}
