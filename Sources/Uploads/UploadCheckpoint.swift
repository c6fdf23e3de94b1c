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
  /// The most bytes that the server was ever known to have of this export.
  let best: Int64
  /// The credential request that names this resource alone, to ask again when the upload has to be taken back; holds no
  /// secret. nil where nobody is asked.
  let request: JSONObject?

  init(
    _ protocolName: String, of export: ExportedFile, request: JSONObject?, best: Int64 = 0, _ fields: JSONObject
  ) {
    self.request = request
    self.best = best
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
    best = object["best"]?.int ?? 0
    request = object["request"]?.object
    fields = object
  }

  var json: JSONValue {
    var object = fields
    object["protocol"] = .string(protocolName)
    object["size"] = .int(size)
    object["md5"] = .string(md5)
    object["best"] = best > 0 ? .int(best) : nil
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
  /// See `UploadState.best`; also over uploads that were lost and begun anew.
  private let best: Mutex<(known: Int64, saved: Int64)>

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
    best = Mutex((known: state?.best ?? 0, saved: state?.best ?? 0))
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
    let known = best.withLock { $0.known }
    let state = UploadState(protocolName, of: export, request: request, best: known, fields)
    try await memory.save(state.json)
    current.withLock { $0 = state }
    best.withLock { $0.saved = max($0.saved, known) }
    await onChange(state)
  }

  /// Notes how much the server has. One that forgets what it took could otherwise be sent the same bytes for ever, each time
  /// as if that were progress.
  /// - Returns: whether that is more than it ever had.
  func advance(to held: Int64) -> Bool {
    best.withLock { best in
      guard held > best.known else { return false }
      best.known = held
      return true
    }
  }

  /// Makes durable what `advance` has noted, for the tries of later attempts.
  func keepAdvance(by protocolName: String) async throws {
    guard best.withLock({ $0.known > $0.saved }) else { return }
    try await save(state?.fields ?? JSONObject(), by: protocolName)
  }

  /// Nobody will finish what was saved: the server is told so in the background.
  func discard() async throws {
    try await memory.discard()
    current.withLock { $0 = nil }
    isForeign.withLock { $0 = false }
    best.withLock { $0.saved = 0 }
    await onChange(nil)
  }
}
