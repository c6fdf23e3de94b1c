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

  /// Removes every work file but these: at start, what a dead engine left.
  func sweep(keeping files: Set<String>)
}

/// Moves exported bytes to file storage.
public protocol Uploader: Sendable {
  /// One session per task and attempt: the task's resources share what it holds (one credential, asked for once).
  /// - Throws: `Failure` where the destination is unknown.
  func session(for task: SendTask) throws -> any UploadSession

  /// Whether the destination takes the first resource before the last one is exported. A credential request names every
  /// resource's digests, so a destination that asks a service has to wait.
  func uploadsEarly(_ task: SendTask) -> Bool
}

public protocol UploadSession: Sendable {
  /// - Parameters:
  ///   - task: as it is now, with every export made so far.
  ///   - progress: told how many bytes of the resource have gone out.
  /// - Throws: `Failure` with an upload code, or `CancellationError`.
  func upload(
    _ resource: Resource, of task: SendTask, progress: @escaping @Sendable (Int64) -> Void
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

/// Time as the engine sees it, so that tests can turn it by hand.
public protocol Clock: Sendable {
  /// Milliseconds since 1970.
  func now() -> Int64
  /// Returns after `milliseconds`, or throws `CancellationError` as soon as the task is canceled.
  func sleep(milliseconds: Int64) async throws
}
