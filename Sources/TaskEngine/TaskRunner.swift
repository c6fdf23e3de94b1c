import TaskModel

/// The interpreter of one task: event → save → actions → events. It contains no decisions; those are the machine's. One
/// call is one attempt or one delivery; everything it starts has ended when it returns, and slots are given back with it.
struct TaskRunner: Sendable {
  let ledger: TaskLedger
  let exporter: any Exporter
  let sources: any SourceKeeper
  let uploader: any Uploader
  let deliverer: any Deliverer
  let exportSlots: Slots
  let uploadSlots: Slots
  let fetchSlots: Slots
  let progress: ProgressBoard

  /// Downloads at once.
  static let fetchesAtOnce = 2

  /// One attempt, up to the lane. Returns early where its Swift task is canceled; the task's state then still says that
  /// work is under way, and whoever canceled tells the machine why.
  /// - Throws: the store's error; nothing that happened since the last commit is saved.
  func work(_ id: SendTask.ID) async throws {
    let turn = try await ledger.apply(.turnCame, to: id)
    let session = UploadSessionBox(uploader)
    let isStopped = try await withThrowingTaskGroup(of: TaskEvent?.self) { group in
      var isStopped = false
      func start(_ outcome: TaskLedger.Outcome) {
        for action in outcome.actions {
          switch action {
          case .export(let index): group.addTask { try await export(index, of: outcome.task) }
          case .upload(let index): group.addTask { try await upload(index, of: outcome.task, session) }
          case .removeExport, .removeSource: removeFiles([action])
          case .stopWork:
            isStopped = true
            group.cancelAll()
          case .awaitLane, .deliver: break
          }
        }
      }
      start(turn)
      do {
        while let event = try await group.next() {
          // Evidence of what is done is kept also after a cancel.
          guard let event else { continue }
          let outcome = try await keeping(event) { try await ledger.apply(event, to: id) }
          await session.note(outcome.task)
          start(outcome)
        }
      } catch {
        group.cancelAll()
        while let rest = await group.nextResult() {
          if case .success(let event?) = rest { removeFile(of: event) }
        }
        throw error
      }
      return isStopped
    }
    guard !isStopped, !Task.isCancelled else { return }
    try await ledger.apply(.workEnded, to: id)
  }

  /// Of a file that no saved state speaks of, nobody would know any more.
  private func keeping<T>(_ event: TaskEvent, _ save: () async throws -> T) async throws -> T {
    do {
      return try await save()
    } catch {
      removeFile(of: event)
      throw error
    }
  }

  private func removeFile(of event: TaskEvent) {
    switch event {
    case .exportFinished(_, let file): exporter.remove(file)
    case .sourceFetched(_, let found): found.source.file.map(sources.remove)
    default: break
    }
  }

  /// Delivers a task whose lane is free.
  func deliver(_ id: SendTask.ID) async throws {
    let start = try await ledger.apply(.deliveryStarted, to: id)
    guard case .deliver(let mode)? = start.actions.first else { return }
    let event: TaskEvent
    do {
      event = .delivered(remoteId: try await outside { try await deliverer.deliver(start.task, mode: mode) })
    } catch let failure as Failure {
      event = .deliveryFailed(failure)
    } catch is CancellationError {
      return
    }
    removeFiles(try await ledger.apply(event, to: id).actions)
  }

  /// Those files of the store that nobody needs after an event.
  func removeFiles(_ actions: [TaskAction]) {
    for action in actions {
      switch action {
      case .removeExport(let file): exporter.remove(file)
      case .removeSource(let file): sources.remove(file)
      case .export, .upload, .awaitLane, .deliver, .stopWork: break
      }
    }
  }

  private func export(_ index: Int, of task: SendTask) async throws -> TaskEvent? {
    try await step(index) {
      let task = try await withSource(index, of: task)
      return try await exportSlots.withSlot(for: task, isLight: task.isLightExport(index)) {
        ledger.note(.exportStarted(index), to: task.id)
        return .exportFinished(
          index,
          try await outside {
            try await exporter.export(task.resources[index], of: task) { fraction in
              progress.exported(fraction, resource: index, of: task.id)
            }
          })
      }
    }
  }

  /// The task with this resource's source on this machine.
  private func withSource(_ index: Int, of task: SendTask) async throws -> SendTask {
    let resource = task.resources[index]
    guard case .url(_, let file) = resource.source else { return task }
    if let file, sources.has(file) { return task }
    return try await fetchSlots.withSlot(for: task) {
      ledger.note(.exportStarted(index), to: task.id)
      let found = try await outside { try await sources.fetch(resource, of: task) }
      let event = TaskEvent.sourceFetched(index, found)
      let outcome = try await keeping(event) { try await ledger.apply(event, to: task.id) }
      removeFiles(outcome.actions)
      guard outcome.task.resources[index].source == found.source else { throw CancellationError() }
      return outcome.task
    }
  }

  private func upload(_ index: Int, of task: SendTask, _ session: UploadSessionBox) async throws -> TaskEvent? {
    guard let file = task.resources[index].export else { return nil }
    guard exporter.isIntact(file) else { return .exportLost(index) }
    return try await step(index) {
      try await uploadSlots.withSlot(for: task) {
        ledger.note(.uploadStarted(index), to: task.id)
        return .uploadFinished(
          index,
          try await outside {
            try await session.session(for: task).upload(
              task.resources[index], of: task, memory: SavedUpload(task, index, ledger)
            ) { bytes in
              progress.uploaded(bytes, of: file.size, resource: index, of: task.id)
            }
          })
      }
    }
  }

  /// Turns whatever comes out of a step into what the machine is told; only the store's own errors pass.
  private func step(_ index: Int, _ body: () async throws -> TaskEvent) async throws -> TaskEvent? {
    do {
      return try await body()
    } catch let failure as Failure {
      return .stepFailed(index, failure)
    } catch is CancellationError {
      return nil
    }
  }

  /// A call through a port: whatever it throws against its promise becomes a failure too, so that no task is ever lost
  /// to a surprise.
  private func outside<T: Sendable>(_ call: () async throws -> T) async throws -> T {
    do {
      return try await call()
    } catch let error where !(error is Failure || error is CancellationError) {
      throw Failure(.internalError, "unforeseen: \(error)", remedy: .retry, outcomeUnknown: true)
    }
  }
}
