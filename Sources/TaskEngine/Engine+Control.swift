import SourceFiles
public import TaskModel
import TaskStorage

// What users do with a task. Work is stopped before its end is saved, so that after the answer, and after the change that
// tells of it, no byte of the task goes out any more.

extension Engine {
  /// How long a cancel waits for the outcome of a delivery that is in the air, in milliseconds.
  static let deliveryPatienceMs: Int64 = 10_000

  /// - Returns: the task with what is true: `canceled`, or `sent` where it came too late.
  /// - Throws: `EngineError.notFound`, `.invalidState` on a task that is final.
  public func cancel(_ id: SendTask.ID) async throws -> SendTask {
    try await withHeld(id) {
      let task = try await requireTask(id)
      guard task.state == .delivering else {
        await stopRunner(of: id)
        return try await finish(.cancel, id)
      }
      let told = try await ledger.apply(.cancel, to: id).task
      guard told.state == .delivering else { return told }
      return try await outcomeOfDelivery(id)
    }
  }

  private func outcomeOfDelivery(_ id: SendTask.ID) async throws -> SendTask {
    if let runner = running[id] { await waitForDelivery(runner) }
    let task = try await requireTask(id)
    guard task.state == .delivering else { return task }
    let unknown = Failure(.deliveryUnknown, "the delivery was broken off", remedy: .retry, outcomeUnknown: true)
    return try await finish(.deliveryFailed(unknown), id)
  }

  /// Gives a delivery in the air its time, and then ends it.
  func waitForDelivery(_ runner: Task<Void, Never>) async {
    let clock = parts.clock
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await runner.value }
      group.addTask { try? await clock.sleep(milliseconds: Engine.deliveryPatienceMs) }
      await group.next()
      runner.cancel()
      group.cancelAll()
    }
  }

  /// - Throws: `EngineError.notFound`, `.invalidState`, `.invalidSource` where a source can't be read as it is now and
  ///   its export is gone too.
  public func retry(_ id: SendTask.ID) async throws -> SendTask {
    try await withHeld(id) {
      let task = try await requireTask(id)
      guard task.state == .failed || task.state == .retrying else {
        throw EngineError.invalidState(task.state, "retry")
      }
      return try await finish(.retry(refresh(task)), id)
    }
  }

  /// The sources as they are now, of what still has to be sent. One that is gone keeps its finished export, if there is
  /// one; without it the task fails again, by name, when its turn comes.
  private func refresh(_ task: SendTask) -> [Int: SourceRefresh] {
    var found: [Int: SourceRefresh] = [:]
    for resource in task.resources where !resource.isDone {
      guard case .path(let path) = resource.source, let file = try? SourceFile.open(path), let type = try? file.type()
      else { continue }
      found[resource.index] = SourceRefresh(source: resource.source, identity: file.identity, mime: type.mime)
    }
    return found
  }

  public func pause(_ id: SendTask.ID) async throws -> SendTask {
    try await withHeld(id) {
      let task = try await requireTask(id)
      if task.state != .delivering { await stopRunner(of: id) }
      return try await finish(.pause, id)
    }
  }

  public func resume(_ id: SendTask.ID) async throws -> SendTask { try await finish(.resume, id) }

  public func startDraft(_ id: SendTask.ID) async throws -> SendTask {
    let task = try await requireTask(id)
    guard task.kind.busyPolicy == .reject, task.state == .draft else { return try await finish(.start, id) }
    let holders = try await store.read { try $0.tasksHolding(task.laneID) }
    if let holder = holders.first { throw EngineError.laneBusy(holder) }
    return try await finish(.start, id)
  }

  /// - Throws: `EngineError.notFound`, `.invalidState` where it works or is over, or may have been delivered with the old
  ///   payload; `.invalidSubmission` for a message without anything in it.
  public func update(_ id: SendTask.ID, _ change: TaskChange) async throws -> SendTask {
    try await withHeld(id) {
      let task = try await requireTask(id)
      if task.kind == .message, task.resources.isEmpty, let payload = change.payload {
        try KindRules.checkText(of: payload, pointer: "/payload")
      }
      return try await finish(.update(change), id)
    }
  }

  /// Removes a task with everything of it; one that runs is canceled first.
  /// - Throws: `EngineError.notFound`.
  public func delete(_ id: SendTask.ID) async throws {
    try await withHeld(id) {
      if try await !requireTask(id).state.isFinal {
        // It may have ended by itself meanwhile.
        do { _ = try await cancel(id) } catch EngineError.invalidState {}
      }
      await stopRunner(of: id)
      let removed = try await store.write { transaction in
        guard let task = try transaction.task(id) else { throw EngineError.notFound(id) }
        try transaction.delete(task)
        return task
      }
      removeFiles(of: removed)
    }
  }

  /// A front end knows more about the network than we do.
  public func networkChanged(isOnline: Bool) async {
    status.setOnline(isOnline)
    if isOnline { await wakeAll(waitingFor: .network) }
  }

  /// Somebody came who may do what some tasks wait for.
  public func frontEndAttached() async {
    arrivals += 1
    await wakeAll(waitingFor: .frontEnd)
  }

  func wakeAll(waitingFor reason: WaitReason) async {
    let waiting = try? await store.read { transaction in
      try transaction.unfinishedTasks().filter { $0.state == .retrying && $0.waitingFor == reason }.map(\.id)
    }
    for id in waiting ?? [] { await wake(id) }
  }

  private func finish(_ event: TaskEvent, _ id: SendTask.ID) async throws -> SendTask {
    let outcome = try await ledger.apply(event, to: id)
    runner.removeFiles(outcome.actions)
    if outcome.task.state == .canceled { parts.sources.forget(outcome.task) }
    return outcome.task
  }

  func requireTask(_ id: SendTask.ID) async throws -> SendTask {
    guard let task = try await store.read({ try $0.task(id) }) else { throw EngineError.notFound(id) }
    return task
  }
}
