import JSON
import Synchronization
import TaskModel

/// What an upload has saved: the protocol's own fields, beside the protocol's name and what the bytes were. Stored as one
/// flat JSON object, `{"protocol", "size", "md5", …}`.
struct UploadState: Sendable, Hashable {
  let protocolName: String
  /// Of the export that it is an upload of.
  let size: Int64
  let md5: String
  let fields: JSONObject
  /// The credential request that names this resource alone, to ask again when the upload has to be taken back; holds no
  /// secret. nil where nobody is asked.
  let request: JSONObject?

  init(_ protocolName: String, of export: ExportedFile, request: JSONObject?, _ fields: JSONObject) {
    self.request = request
    self.protocolName = protocolName
    size = export.size
    md5 = export.md5
    self.fields = fields
  }

  /// nil for what no version of this program has saved.
  init?(_ json: JSONValue?) {
    guard let object = json?.object, let name = object["protocol"]?.string, let size = object["size"]?.int,
      let md5 = object["md5"]?.string
    else { return nil }
    protocolName = name
    self.size = size
    self.md5 = md5
    request = object["request"]?.object
    fields = object
  }

  var json: JSONValue {
    var object = fields
    object["protocol"] = .string(protocolName)
    object["size"] = .int(size)
    object["md5"] = .string(md5)
    object["request"] = request.map(JSONValue.object)
    return .object(object)
  }

  func isOf(_ export: ExportedFile) -> Bool { size == export.size && md5 == export.md5 }

  /// What a renewal names, so that the service signs for this upload and not for another one.
  var underWay: [(name: String, value: JSONValue)] {
    ["uploadId", "uploadUrl"].compactMap { name in fields[name].map { (name, $0) } }
  }
}

/// The memory of one resource's upload, as its tries see it: what is saved now, whoever saved it.
final class UploadCheckpoint: Sendable {
  private let memory: any UploadMemory
  private let export: ExportedFile
  private let request: JSONObject?
  private let current: Mutex<UploadState?>
  private let onChange: @Sendable (UploadState?) async -> Void
  /// Something is saved that is of another export, or that nobody can read.
  private let isForeign: Mutex<Bool>

  /// - Parameters:
  ///   - request: see `UploadState.request`.
  ///   - onChange: told what is under way from now on.
  init(
    _ memory: any UploadMemory, _ export: ExportedFile, request: JSONObject? = nil,
    onChange: @escaping @Sendable (UploadState?) async -> Void = { _ in }
  ) {
    self.memory = memory
    self.request = request
    self.export = export
    self.onChange = onChange
    let state = UploadState(memory.saved).flatMap { $0.isOf(export) ? $0 : nil }
    current = Mutex(state)
    isForeign = Mutex(state == nil && memory.saved != nil)
  }

  var state: UploadState? { current.withLock { $0 } }

  /// What there is to go on from by this protocol; anything else that was saved is given up.
  func resumable(by protocolName: String) async throws -> JSONObject? {
    if let state, state.protocolName == protocolName { return state.fields }
    if state != nil || isForeign.withLock({ $0 }) { try await discard() }
    return nil
  }

  /// Returns when it is durable.
  func save(_ fields: JSONObject, by protocolName: String) async throws {
    let state = UploadState(protocolName, of: export, request: request, fields)
    try await memory.save(state.json)
    current.withLock { $0 = state }
    await onChange(state)
  }

  /// Nobody will finish what was saved: the server is told so in the background.
  func discard() async throws {
    try await memory.discard()
    current.withLock { $0 = nil }
    isForeign.withLock { $0 = false }
    await onChange(nil)
  }
}
