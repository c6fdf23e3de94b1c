public import TaskModel

extension Engine {
  /// Says what the exports of a submission would do; stores nothing, and disturbs no export that runs.
  /// - Returns: one plan for each resource that the task would have: a log has one.
  /// - Throws: `EngineError` as `submit` does, and `invalidSource` for a source that could not be exported;
  ///   `CancellationError`.
  public func plan(_ submission: Submission) async throws -> [PlannedExport] {
    guard !isStopping else { throw EngineError.shuttingDown }
    let task = try makeTask(submission, try await SourceInspection.inspect(submission))
    var plans: [PlannedExport] = []
    for resource in task.resources where !resource.role.isDerived {
      do {
        plans.append(try await plan(resource, of: task))
      } catch let failure as Failure {
        throw EngineError.invalidSource(failure, pointer: Engine.pointer(to: resource))
      }
    }
    return plans
  }

  /// Away from the engine's own executor, which goes on meanwhile.
  private nonisolated func plan(_ resource: Resource, of task: SendTask) async throws -> PlannedExport {
    try await planSlots.withSlot(for: task) { try await parts.exporter.plan(resource, of: task) }
  }

  private static func pointer(to resource: Resource) -> String {
    switch resource.source {
    case .path: "/resources/\(resource.index)/source/path"
    case .paths: "/resources/\(resource.index)/source/paths"
    }
  }
}
