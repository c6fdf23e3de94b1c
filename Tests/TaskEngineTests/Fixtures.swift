import JSON
import TaskModel

/// Does nothing of what an engine can ask for; time stands still.
struct Nobody: Exporter, SourceKeeper, Uploader, Deliverer, TaskModel.Clock {
  func export(
    _ resource: Resource, of task: SendTask, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> ExportedFile { throw CancellationError() }
  func plan(_ resource: Resource, of task: SendTask) async throws -> PlannedExport { throw CancellationError() }
  func isIntact(_ file: ExportedFile) -> Bool { false }
  func remove(_ file: ExportedFile) {}
  func sweep(keeping files: [ExportedFile]) {}

  func fetch(_ resource: Resource, of task: SendTask) async throws -> SourceRefresh { throw CancellationError() }
  func copy(_ path: String) async throws -> SourceRefresh { throw CancellationError() }
  func has(_ file: String) -> Bool { false }
  func remove(_ file: String) {}
  func forget(_ task: SendTask) {}
  func sweep(keeping files: Set<String>, tasks: Set<SendTask.ID>) {}

  func session(for task: SendTask) throws -> any UploadSession { throw CancellationError() }
  func abandon(_ state: JSONValue, destination: String) async throws {}
  func deliver(_ task: SendTask, mode: DeliveryMode) async throws -> String? { nil }
  func now() -> Int64 { 0 }
  func sleep(milliseconds: Int64) async throws { throw CancellationError() }
}
