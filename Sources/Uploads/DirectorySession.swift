import Answers
import TaskModel

/// Uploads into a local folder: nobody is asked.
struct DirectorySession: UploadSession {
  let root: String
  let exportsFolder: String

  func note(_ task: SendTask) async {}

  func upload(
    _ resource: Resource, of task: SendTask, memory: any UploadMemory, progress: @escaping @Sendable (Int64) -> Void
  ) async throws -> UploadResult {
    do {
      let file = try UploadFile(try resource.finishedExport(), in: exportsFolder)
      let place = ObjectPlace(root: root, task: task, resource: resource)
      return try await UploadRun(
        endpoint: DirectoryEndpoint(place, file), checkpoint: UploadCheckpoint(memory, file.export),
        size: file.export.size, watch: UploadWatch(), progress: progress
      ).run()
    } catch let failure as Failure {
      throw failure.at(resource: resource.index)
    }
  }
}

/// Where an object lies: `{account}/{kind}/{taskId}/{index}-{name}` below the root. The same for every attempt.
struct ObjectPlace: Sendable, Hashable {
  let folder: String
  let name: String
  /// Hidden, and of this object alone: its neighbours may be on their way too.
  let temporaryPrefix: String

  init(root: String, task: SendTask, resource: Resource) {
    let segments = [task.account, task.kind.rawValue, task.id].map(SafeName.segment)
    folder = ([root] + segments).joined(separator: "/")
    temporaryPrefix = ".\(resource.index)-"
    name = "\(resource.index)-\(SafeName.segment(resource.name))"
  }

  var path: String { folder + "/" + name }
  var url: String { "file://" + PercentEncoding.encode(path, keepingSlashes: true) }
}
