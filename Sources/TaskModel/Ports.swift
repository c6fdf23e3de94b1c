public import JSON

/// What the engine needs from outside, as small as it can be. Each call ends in a value, in a `Failure`, or in
/// `CancellationError` as soon as its Swift task is canceled; none retries by itself.

/// Makes the bytes that go up.
public protocol Exporter: Sendable {
  /// Leaves a finished file in the store's `exports/` folder under a random name.
  /// - Parameter progress: told the done fraction, 0 to 1, at most ten times a second, never falling.
  /// - Throws: `Failure` with a source or export code, or `CancellationError`.
  func export(
    _ resource: Resource, of task: SendTask, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> ExportedFile

  /// What `export` would make of the resource. Writes nothing and does not wait for exports that run.
  /// - Throws: `Failure` where the export would fail for what the source is; `CancellationError`.
  func plan(_ resource: Resource, of task: SendTask) async throws -> PlannedExport

  /// Whether a finished export is still there and whole, so that it need not be made again.
  func isIntact(_ file: ExportedFile) -> Bool

  /// Removes an export that no task needs any more.
  func remove(_ file: ExportedFile)

  /// Removes every work file but these: at start, what a dead engine left. These may serve other tasks too.
  func sweep(keeping files: [ExportedFile])
}

/// Moves exported bytes to file storage.
public protocol Uploader: Sendable {
  /// One session per task and attempt: the task's resources share what it holds (one credential, asked for once).
  /// - Throws: `Failure` where the destination is unknown.
  func session(for task: SendTask) throws -> any UploadSession

  /// Takes back what an upload that nobody will finish has left on the server.
  /// - Parameters:
  ///   - state: what the upload had saved in its `UploadMemory`.
  ///   - destination: of its task.
  /// - Throws: `Failure`; nothing where there is nothing left to take back.
  func abandon(_ state: JSONValue, destination: String) async throws
}

/// What an upload must know to go on where another attempt, or another engine, has stopped. Belongs to one resource; is
/// forgotten when the resource is up, and handed to `Uploader.abandon` when nobody wants it any more.
public protocol UploadMemory: Sendable {
  /// As last saved when this upload began; nil where there is nothing to go on from.
  var saved: JSONValue? { get }

  /// Returns when it is durable.
  /// - Throws: the store's error.
  func save(_ state: JSONValue) async throws
}

public protocol UploadSession: Sendable {
  /// Told whenever an export has ended, so that one credential request can name all that is ready.
  func note(_ task: SendTask) async

  /// - Parameters:
  ///   - task: as it is now, with every export made so far.
  ///   - memory: of this resource.
  ///   - progress: told how many bytes of the resource have gone out.
  /// - Throws: `Failure` with an upload code, or `CancellationError`.
  func upload(
    _ resource: Resource, of task: SendTask, memory: any UploadMemory, progress: @escaping @Sendable (Int64) -> Void
  ) async throws -> UploadResult
}

/// Where an upload's bytes are now. A `Receipt` is made of it and the export.
public struct UploadResult: Sendable, Hashable {
  public var url: String
  public var etag: String?
  public var uploadProtocol: String
  public init(url: String, etag: String? = nil, uploadProtocol: String) {
    self.url = url
    self.etag = etag
    self.uploadProtocol = uploadProtocol
  }
}

/// Whether a delivery with this key can already have arrived.
public enum DeliveryMode: String, Sendable {
  case send, resend
}

/// Publishes a task with its receipts, exactly once per task id.
public protocol Deliverer: Sendable {
  /// - Returns: the id that the service gave it, where it gave one.
  /// - Throws: `Failure`; `outcomeUnknown` says that it may have arrived all the same.
  func deliver(_ task: SendTask, mode: DeliveryMode) async throws -> String?
}

/// What only a front end can do.
public enum FrontEndCapability: Sendable, Hashable {
  case deliver(TaskKind)
  case credentials
}

/// Whoever is at the other end of the engine's sessions.
public protocol FrontEnds: Sendable {
  /// Asks one that has announced `capability` for `account`.
  /// - Throws: `Failure`, with `needsFrontEnd` where nobody is there, or goes before answering; or `CancellationError`.
  func ask(
    _ method: String, _ params: JSONValue, of capability: FrontEndCapability, account: String
  ) async throws -> JSONValue
}

/// Time as the engine sees it, so that tests can turn it by hand.
public protocol Clock: Sendable {
  /// Milliseconds since 1970.
  func now() -> Int64
  /// Returns after `milliseconds`, or throws `CancellationError` as soon as the task is canceled.
  func sleep(milliseconds: Int64) async throws
}
