import HTTP
import JSON
import TaskConfig
import TaskModel

/// What every endpoint works with.
struct UploadTools: Sendable {
  let http: HTTPClient
  let settings: Config.Uploads
  let clock: any Clock
  let clocks: ServerClocks
  let tusServers: TusServers
  /// Who has upload slots that nobody else wants at the moment.
  let lender: (any SlotLender)?
}

/// The one list of protocols.
enum UploadProtocol {
  /// One try with this credential.
  /// - Parameters:
  ///   - name: of the resource, for protocols that send it along.
  ///   - token: what an object is recognised by as this resource's.
  static func run(
    _ credential: UploadCredential, _ file: UploadFile, name: String, token: String, _ checkpoint: UploadCheckpoint,
    _ tools: UploadTools,
    _ watch: UploadWatch, _ progress: @escaping UploadProgress
  ) async throws -> UploadResult {
    func run(_ endpoint: some UploadEndpoint) async throws -> UploadResult {
      try await UploadRun(
        endpoint: endpoint, checkpoint: checkpoint, size: file.export.size, watch: watch, progress: progress
      ).run()
    }
    switch credential {
    case .put(let credential): return try await run(PutEndpoint(credential, file, tools))
    case .form(let credential): return try await run(FormEndpoint(credential, file, tools))
    case .tus(let credential):
      let save: UploadSave = { [checkpoint] in try await checkpoint.save($0, by: TusEndpoint.name) }
      let found = { @Sendable in
        await watch.moved()
        await watch.advanced()
      }
      return try await run(
        TusEndpoint(credential, file, name: name, tools, save: save, advanced: found))
    case .multipart(let credential):
      let place = MultipartPlace(credential)
      switch credential {
      case .presigned(let presigned):
        return try await run(
          MultipartEndpoint(PresignedDoor(credential: presigned, tools: tools), place, file, token: token, tools, watch)
        )
      case .signedHere(let signed):
        return try await run(
          MultipartEndpoint(S3Door(credential: signed, tools: tools), place, file, token: token, tools, watch))
      }
    case .unknown(let name):
      throw Failure(.unsupported, "the upload protocol \"\(name)\" is not known", remedy: .giveUp)
    }
  }

  /// Takes back what an upload has left on the server. What the server does not know any more is done.
  /// - Parameter credential: asks for a fresh credential of this upload, where what is saved will not do.
  /// - Throws: `Failure` where it has to be tried again.
  static func abandon(
    _ state: UploadState, _ tools: UploadTools, credential: @escaping @Sendable () async throws -> UploadCredential?
  ) async throws {
    switch state.protocolName {
    case MultipartName.text:
      try await MultipartAbandon(fields: state.fields, tools: tools, credential: credential).run()
    case TusEndpoint.name: try await TusAbandon(fields: state.fields, tools: tools, credential: credential).run()
    // `put` leaves nothing behind, `directory` sweeps by itself.
    default: break
    }
  }
}
