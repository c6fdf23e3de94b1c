import JSON
import TaskModel

typealias UploadProgress = @Sendable (Int64) -> Void

/// One upload of one file to one place, as the server of a protocol sees it. A new protocol is one new file with a type of
/// this kind and one line in `UploadProtocol`. Each call ends in a value, a `Failure`, or `CancellationError`;
/// `UploadRun` decides in which order they come, and these remedies mean something to it:
///
/// - `resume`: ask the server what it has and go on from there.
/// - `restart` with code `uploadLost`: the server does not know the upload any more; look for it, else begin anew.
/// - `refreshCredential`: a fresh credential, and a new endpoint with it, goes on from what is saved.
///
/// A try that failed is not taken back: the next one goes on from it. What nobody will finish is taken back by
/// `UploadProtocol.abandon`, from what was saved.
protocol UploadEndpoint: Sendable {
  static var name: String { get }

  /// How much the server has of the upload that an earlier try has saved. Its answer is the truth.
  /// - Parameter saved: what `create` or `save` gave, of this protocol and this very export.
  func find(_ saved: JSONObject) async throws -> FoundUpload

  /// Begins the upload on the server.
  /// - Parameter save: makes durable what is needed to go on, or to take the upload back, by protocol fields; `uploadId`
  ///   and `uploadUrl` are named to the service when the credential is renewed. No byte of the file goes out before.
  func create(save: @escaping UploadSave) async throws

  /// Sends bytes from `offset` on, as many as the protocol sends at once; also called once for an empty file.
  /// - Parameter progress: told how many bytes of the whole file have gone out.
  /// - Returns: how many bytes the server has now.
  func append(from offset: Int64, progress: @escaping UploadProgress) async throws -> Int64

  /// What the server has acknowledged, also where `append` failed after some bytes.
  var heldBytes: Int64 { get }

  /// Makes the object visible, once all is there.
  func finish() async throws -> UploadResult

  /// This try ends here without a result: lets go of what can't be gone on with.
  func letGo() async
}

typealias UploadSave = @Sendable (JSONObject) async throws -> Void

enum FoundUpload: Sendable, Hashable {
  /// The server has so many bytes.
  case holds(Int64)
  /// The object is there, and it is ours: only the answer was lost.
  case finished(UploadResult)
  /// The server does not know it, or the credential is for another one.
  case lost
}

extension UploadEndpoint {
  func find(_ saved: JSONObject) async throws -> FoundUpload { .lost }
  func create(save: @escaping UploadSave) async throws {}
  func letGo() async {}
  var heldBytes: Int64 { 0 }
}
