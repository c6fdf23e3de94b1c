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

/// Keeps sources in the store's `sources/` folder: what was fetched from a URL, and private copies.
public protocol SourceKeeper: Sendable {
  /// Brings what lies at the resource's URL into the store, going on from what an earlier call got.
  /// - Throws: `Failure` with a source code or that of a network step, or `CancellationError`.
  func fetch(_ resource: Resource, of task: SendTask) async throws -> SourceRefresh

  /// Takes a private copy of the file at `path`, on the disk when it returns.
  /// - Throws: `Failure` with a source code or `diskFull`, or `CancellationError`.
  func copy(_ path: String) async throws -> SourceRefresh

  /// Whether a file of the store is still there.
  func has(_ file: String) -> Bool

  /// Removes a file that no task needs any more.
  func remove(_ file: String)

  /// Removes what was half fetched for a task that needs it no more.
  func forget(_ task: SendTask)

  /// Removes every file but these, and but the half-fetched ones of these tasks: at start, what a dead engine left.
  func sweep(keeping files: Set<String>, tasks: Set<SendTask.ID>)
}

/// Moves exported bytes to file storage.
public protocol Uploader: Sendable {
  /// One session per task and attempt: the task's resources share what it holds (credentials, asked for
  /// together).
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

  /// Nobody will finish the upload that is saved: it is forgotten, and handed to `Uploader.abandon`.
  /// - Throws: the store's error.
  func discard() async throws
}

/// Upload slots that nobody wants at the moment, for a large file's further connections.
public protocol SlotLender: Sendable {
  /// Never waits. Each slot taken is given back by one `giveBack`, soon.
  func tryTake() -> Bool
  func giveBack()
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
  /// Milliseconds of a clock that never jumps, and that goes on while the machine sleeps; only differences mean anything.
  func steady() -> Int64
  /// Returns after `milliseconds`, or throws `CancellationError` as soon as the task is canceled.
  func sleep(milliseconds: Int64) async throws
}

extension Clock {
  /// For a clock whose wall nobody sets.
  public func steady() -> Int64 { now() }
}
