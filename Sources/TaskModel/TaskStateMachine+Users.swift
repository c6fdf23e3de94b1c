// What users do with a task.

extension TaskStateMachine {
  mutating func start() throws(InvalidTransition) -> [TaskAction] {
    guard task.state == .draft else { throw invalid("start") }
    task.pendingSince = max(now, task.notBefore ?? 0)
    queue()
    return []
  }

  mutating func retry(_ sources: [Int: SourceRefresh]) throws(InvalidTransition) -> [TaskAction] {
    guard task.state == .failed || task.state == .retrying else { throw invalid("retry") }
    task.failedAttempts = 0
    task.pendingSince = now
    task.cancelRequested = false
    task.failure = nil
    var actions: [TaskAction] = []
    for (index, refresh) in sources.sorted(by: { $0.key < $1.key }) where !task.resources[index].isDone {
      let isSame = refresh.source == task.resources[index].source && refresh.identity == task.resources[index].identity
      task.resources[index].source = refresh.source
      task.resources[index].identity = refresh.identity
      task.resources[index].sourceMime = refresh.mime
      if !isSame, let removal = dropExport(of: index) { actions.append(removal) }
    }
    // What was fetched may have been what was wrong.
    for index in task.resources.indices where task.resources[index].export == nil {
      guard case .url = task.resources[index].source, let removal = dropSource(of: index) else { continue }
      task.resources[index].identity = nil
      actions.append(removal)
    }
    queue()
    return actions
  }

  mutating func cancel() throws(InvalidTransition) -> [TaskAction] {
    switch task.state {
    case .delivering:
      // It may be there already: the outcome decides, in `delivered` or `deliveryFailed`.
      task.cancelRequested = true
      return []
    case .draft, .queued, .exporting, .uploading, .retrying, .paused:
      if task.deliveriesInDoubt > 0 {
        fail(Self.unknownDelivery)
        return [.stopWork]
      }
      move(to: .canceled)
      return [.stopWork] + dropExports()
    case .failed:
      move(to: .canceled)
      return dropExports()
    case .sent, .canceled: throw invalid("cancel")
    }
  }

  mutating func pause() throws(InvalidTransition) -> [TaskAction] {
    guard [.queued, .exporting, .uploading, .retrying].contains(task.state) else { throw invalid("pause") }
    move(to: .paused)
    settleResources()
    return [.stopWork]
  }

  mutating func resume() throws(InvalidTransition) -> [TaskAction] {
    guard task.state == .paused else { throw invalid("resume") }
    task.pendingSince = max(now, task.notBefore ?? 0)
    queue()
    return []
  }

  /// Not while it works: what is under way would go out as it was, or half of it.
  mutating func update(_ change: TaskChange) throws(InvalidTransition) -> [TaskAction] {
    guard [.draft, .queued, .retrying, .paused, .failed].contains(task.state) else { throw invalid("update") }
    if let payload = change.payload, payload != task.payload {
      // What is repeated under a delivery's key must be the same.
      guard task.deliveriesInDoubt == 0 else { throw invalid("other payload, as it may have been delivered") }
      task.payload = payload
    }
    if let urgency = change.urgency { task.urgency = urgency }
    if let notBefore = change.notBefore {
      task.notBefore = notBefore == 0 ? nil : notBefore
      // It expires so long after it may go.
      task.pendingSince = notBefore > now ? max(task.pendingSince, notBefore) : min(task.pendingSince, now)
      if task.state == .queued { task.waitingFor = notBefore > now ? .notBefore : .slot }
    }
    return []
  }

  static let unknownDelivery = Failure(
    .deliveryUnknown,
    "it is not known whether the delivery arrived; a retry uses the same key and makes no second one",
    remedy: .needsUser)
}
