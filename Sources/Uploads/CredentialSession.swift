import HTTP
import TaskConfig
import TaskModel

/// Uploads of one attempt, by credentials that a service issues.
struct CredentialSession: UploadSession {
  let broker: CredentialBroker
  let http: HTTPClient
  let settings: Config.Uploads
  let exportsFolder: String

  func note(_ task: SendTask) async { await broker.note(task) }

  func upload(
    _ resource: Resource, of task: SendTask, memory: any UploadMemory, progress: @escaping @Sendable (Int64) -> Void
  ) async throws -> UploadResult {
    do {
      let file = try UploadFile(try resource.finishedExport(), in: exportsFolder)
      return try await upload(file, resource.index, of: task, progress)
    } catch let failure as Failure {
      throw failure.at(resource: resource.index)
    }
  }

  private func upload(
    _ file: UploadFile, _ index: Int, of task: SendTask, _ progress: @escaping UploadProgress
  ) async throws -> UploadResult {
    var refused: Int?
    while true {
      let issue = try await broker.issue(for: index, of: task, refused: refused)
      guard let credential = issue.credential else {
        throw Failure(.badAnswer, "the service issued no credential for resource \(index)", remedy: .giveUp)
      }
      do {
        let result = try await UploadProtocol.run(credential, file, http: http, settings: settings, progress)
        await broker.noteProgress()
        return result
      } catch let failure as Failure where failure.remedy == .refreshCredential {
        // The broker knows whether a fresh one has been refused already, and ends this loop.
        refused = issue.generation
      }
    }
  }
}

/// The one list of protocols.
enum UploadProtocol {
  static func run(
    _ credential: UploadCredential, _ file: UploadFile, http: HTTPClient, settings: Config.Uploads,
    _ progress: @escaping UploadProgress
  ) async throws -> UploadResult {
    switch credential {
    case .put(let credential):
      let endpoint = PutEndpoint(credential, file, http: http, settings: settings)
      return try await UploadRun.run(endpoint, size: file.export.size, progress: progress)
    case .unknown(let name):
      throw Failure(.unsupported, "the upload protocol \"\(name)\" is not known", remedy: .giveUp)
    }
  }
}
