public import JSON

/// The life of one task, as a value: event in, actions out; no clock, no database, no `await`.
///
/// The shell around it (`TaskLedger`) loads a task, feeds one event, saves the new state together with its evidence (the
/// export, the receipt, the intent to deliver) in one transaction, and only then acts. Therefore a crash at any moment
/// leaves either the state before the event or the state after it, never half of one:
///
/// 1. An export or upload that was running is simply made again, or gone on with: nothing about it was promised.
/// 2. A resource is done when its URL is saved, and by nothing else; what is done is never done again.
/// 3. A delivery is preceded by the saved intent (`deliveriesInDoubt`), so that after a crash it is repeated as a
///    `resend` with the same key, and a cancel can tell that it can't know.
///
/// One attempt runs like this. `turnCame` asks for every export and upload that is still missing. Their outcomes come
/// back one by one; a hiccup is repeated at once up to `resourceRetries` times. When nothing runs any more (`workEnded`)
/// the attempt is judged: everything up → wait for the lane and deliver; something failed for good → `failed`; something
/// failed for now → `retrying` with backoff. docs/lifecycle.md has the diagram, `TaskState` the edges.
public struct TaskStateMachine: Sendable {
  public private(set) var task: SendTask
  /// What happened since this value was made, for the history.
  public private(set) var transitions: [Transition] = []
  /// What uploads had saved that nobody will finish; for `Uploader.abandon`.
  public private(set) var abandoned: [JSONValue] = []

  let policy: RetryPolicy
  /// Milliseconds since 1970, when the event happened.
  let now: Int64
  /// Drawn by the caller from `Backoff.jitterRange`.
  let jitter: Double

  public init(_ task: SendTask, policy: RetryPolicy, now: Int64, jitter: Double) {
    self.task = task
    self.policy = policy
    self.now = now
    self.jitter = jitter
  }

  /// - Throws: `InvalidTransition` where a user's event does not fit the state. Events from work that was overtaken (by a
  ///   cancel, for instance) are no errors: they change nothing and ask for nothing.
  public mutating func handle(_ event: TaskEvent) throws(InvalidTransition) -> [TaskAction] {
    let actions: [TaskAction]
    switch event {
    case .start: actions = try start()
    case .retry(let sources): actions = try retry(sources)
    case .cancel: actions = try cancel()
    case .pause: actions = try pause()
    case .resume: actions = try resume()
    case .turnCame: actions = turnCame()
    case .wake: actions = wake()
    case .rescued: actions = rescued()
    case .exportStarted(let index): actions = stepStarted(index, .exporting)
    case .exportFinished(let index, let file): actions = exportFinished(index, file)
    case .exportLost(let index): actions = exportLost(index)
    case .uploadStarted(let index): actions = stepStarted(index, .uploading)
    case .uploadSaved(let index, let state): actions = uploadSaved(index, state)
    case .uploadFinished(let index, let result): actions = uploadFinished(index, result)
    case .stepFailed(let index, let failure): actions = stepFailed(index, failure)
    case .workEnded: actions = workEnded()
    case .deliveryStarted: actions = deliveryStarted()
    case .delivered(let remoteId): actions = delivered(remoteId)
    case .deliveryFailed(let failure): actions = deliveryFailed(failure)
    }
    task.updatedAt = now
    task.progress = Progress.durable(of: task)
    return actions
  }

  // MARK: Moving

  /// The only place that changes the task's state.
  mutating func move(to state: TaskState, because failure: Failure? = nil) {
    precondition(task.state.successors.contains(state), "no edge \(task.state) -> \(state)")
    transitions.append(Transition(from: task.state.rawValue, to: state.rawValue, failure: failure))
    task.state = state
    task.finishedAt = state.isFinal ? now : nil
    if state != .retrying { task.nextAttemptAt = nil }
    if state != .retrying && state != .queued { task.waitingFor = nil }
  }

  mutating func move(_ index: Int, to state: ResourceState, because failure: Failure? = nil) {
    let old = task.resources[index].state
    guard old != state else { return }
    transitions.append(
      Transition(resource: index, from: old.rawValue, to: state.rawValue, failure: failure))
    task.resources[index].state = state
  }

  func invalid(_ event: String) -> InvalidTransition { InvalidTransition(state: task.state, event: event) }

  /// The files that nobody needs once the task has ended this way; what they were stays known.
  mutating func dropExports() -> [TaskAction] {
    abandonUploads()
    return dropFiles()
  }

  private mutating func dropFiles() -> [TaskAction] {
    task.resources.indices.compactMap { index in
      guard let file = task.resources[index].export, !file.isRemoved else { return nil }
      task.resources[index].export?.file = ""
      return .removeExport(file)
    }
  }

  mutating func abandonUploads() {
    for index in task.resources.indices { abandonUpload(of: index) }
  }

  private mutating func abandonUpload(of index: Int) {
    guard let state = task.resources[index].uploadState else { return }
    task.resources[index].uploadState = nil
    abandoned.append(state)
  }

  mutating func dropExport(of index: Int) -> TaskAction? {
    abandonUpload(of: index)
    guard let file = task.resources[index].export else { return nil }
    task.resources[index].export = nil
    return .removeExport(file)
  }
}

// MARK: - What users do

extension TaskStateMachine {
  private mutating func start() throws(InvalidTransition) -> [TaskAction] {
    guard task.state == .draft else { throw invalid("start") }
    task.pendingSince = max(now, task.notBefore ?? 0)
    queue()
    return []
  }

  private mutating func retry(_ sources: [Int: SourceRefresh]) throws(InvalidTransition) -> [TaskAction] {
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
    queue()
    return actions
  }

  private mutating func cancel() throws(InvalidTransition) -> [TaskAction] {
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

  private mutating func pause() throws(InvalidTransition) -> [TaskAction] {
    guard [.queued, .exporting, .uploading, .retrying].contains(task.state) else { throw invalid("pause") }
    move(to: .paused)
    settleResources()
    return [.stopWork]
  }

  private mutating func resume() throws(InvalidTransition) -> [TaskAction] {
    guard task.state == .paused else { throw invalid("resume") }
    task.pendingSince = max(now, task.notBefore ?? 0)
    queue()
    return []
  }

  static let unknownDelivery = Failure(
    .deliveryUnknown,
    "it is not known whether the delivery arrived; a retry uses the same key and makes no second one",
    remedy: .needsUser)
}

// MARK: - Turns

extension TaskStateMachine {
  private mutating func queue() {
    move(to: .queued)
    settleResources()
    task.waitingFor = (task.notBefore ?? 0) > now ? .notBefore : .slot
  }

  /// Puts every resource back to what is true of it while nothing runs. Not after a delivery that may have arrived: what is
  /// repeated under its key must be the same, without what failed then.
  private mutating func settleResources() {
    for index in task.resources.indices where !task.resources[index].isDone {
      if isGivenUp(index) { continue }
      task.resources[index].failure = nil
      task.resources[index].repeats = 0
      move(index, to: task.resources[index].export == nil ? .pending : .exported)
    }
  }

  private func isGivenUp(_ index: Int) -> Bool {
    task.deliveriesInDoubt > 0 && task.resources[index].state == .failed
  }

  private mutating func turnCame() -> [TaskAction] {
    guard task.state == .queued else { return [] }
    task.attempt = task.failedAttempts + 1
    task.hasProgressed = false
    move(to: .exporting)
    let missing = task.resources.indices.filter { !task.resources[$0].isDone && !isGivenUp($0) }
    let exports = missing.filter { task.resources[$0].export == nil }.map { TaskAction.export($0) }
    return exports + startUploads(missing.filter { task.resources[$0].export != nil })
  }

  private mutating func wake() -> [TaskAction] {
    guard task.state == .retrying else { return [] }
    if isExpired {
      fail(expiry(task.failure))
    } else {
      queue()
    }
    return []
  }

  private mutating func rescued() -> [TaskAction] {
    guard task.state.isRunning else { return [] }
    if task.state == .delivering, task.cancelRequested {
      fail(Self.unknownDelivery)
    } else {
      queue()
    }
    return []
  }

  var isExpired: Bool { now - task.pendingSince >= policy.expireAfterMs }

  func expiry(_ cause: Failure?) -> Failure {
    let hours = Double(policy.expireAfterMs) / 3_600_000
    let told = hours >= 1 ? "\(Int(hours)) h" : "\(policy.expireAfterMs) ms"
    return Failure(
      .expired, "could not be sent for \(told)" + (cause.map { "; last: \($0.message)" } ?? ""), remedy: .needsUser,
      resource: cause?.resource, httpStatus: cause?.httpStatus)
  }

  mutating func fail(_ failure: Failure) {
    task.failure = failure
    abandonUploads()
    move(to: .failed, because: failure)
  }
}

// MARK: - Work

extension TaskStateMachine {
  /// Whether an event about this resource still means anything.
  private func isCurrent(_ index: Int) -> Bool {
    (task.state == .exporting || task.state == .uploading) && task.resources.indices.contains(index)
      && !task.resources[index].isDone
  }

  private mutating func stepStarted(_ index: Int, _ state: ResourceState) -> [TaskAction] {
    if isCurrent(index) { move(index, to: state) }
    return []
  }

  private mutating func exportFinished(_ index: Int, _ file: ExportedFile) -> [TaskAction] {
    guard isCurrent(index) else { return [.removeExport(file)] }
    let resource = task.resources[index]
    task.resources[index].export = file
    if !resource.role.isDerived {
      task.resources[index].name = FileName.of(resource.name, from: resource.sourceMime, exportedAs: file.mime)
    }
    task.resources[index].repeats = 0
    move(index, to: .exported)
    return startUploads([index])
  }

  private mutating func exportLost(_ index: Int) -> [TaskAction] {
    guard isCurrent(index) else { return [] }
    abandonUpload(of: index)
    task.resources[index].export = nil
    move(index, to: .pending)
    return [.export(index)]
  }

  /// The uploads of these newly exported resources; enters `uploading` with the last export.
  private mutating func startUploads(_ fresh: [Int]) -> [TaskAction] {
    let isComplete = task.resources.allSatisfy { $0.isDone || $0.export != nil || $0.state == .failed }
    if task.state == .exporting && isComplete { move(to: .uploading) }
    return fresh.filter { task.resources[$0].state == .exported }.map { .upload($0) }
  }

  private mutating func uploadSaved(_ index: Int, _ state: JSONValue) -> [TaskAction] {
    if isCurrent(index) { task.resources[index].uploadState = state } else { abandoned.append(state) }
    return []
  }

  private mutating func uploadFinished(_ index: Int, _ result: UploadResult) -> [TaskAction] {
    guard isCurrent(index), let export = task.resources[index].export else { return [] }
    let resource = task.resources[index]
    task.resources[index].uploadState = nil
    task.resources[index].url = result.url
    task.resources[index].uploadProtocol = result.uploadProtocol
    task.resources[index].receipt = Receipt(
      url: result.url, mime: export.mime, size: export.size, md5: export.md5, sha256: export.sha256, etag: result.etag,
      name: resource.name, width: export.width, height: export.height, durationMs: export.durationMs)
    task.resources[index].failure = nil
    task.hasProgressed = true
    move(index, to: .uploaded)
    return []
  }

  private mutating func stepFailed(_ index: Int, _ failure: Failure) -> [TaskAction] {
    guard isCurrent(index) else { return [] }
    let failure = failure.at(resource: index)
    // What was exported is not what lies there any more: only a new export helps.
    let removal = failure.code == .integrityMismatch ? dropExport(of: index) : nil
    let step: TaskAction = task.resources[index].export == nil ? .export(index) : .upload(index)
    let isHiccup =
      !failure.isPermanent && !failure.isOffline && !failure.needsFrontEnd && failure.retryAfterMs == nil
    if isHiccup, task.resources[index].repeats < policy.resourceRetries {
      task.resources[index].repeats += 1
      return [removal, step].compactMap { $0 }
    }
    task.resources[index].failure = failure
    move(index, to: .failed, because: failure)
    if failure.isPermanent, task.partial == .fail {
      fail(failure)
      return [.stopWork] + [removal].compactMap { $0 }
    }
    // The others go on; `workEnded` judges. Without this one, the rest may be complete.
    return [removal].compactMap { $0 } + startUploads([])
  }

  private mutating func workEnded() -> [TaskAction] {
    guard task.state == .exporting || task.state == .uploading else { return [] }
    let failures = task.resources.compactMap { $0.state == .failed ? $0.failure : nil }
    let cause = failures.first { !$0.isPermanent }
    if let cause, task.deliveriesInDoubt == 0 { return postpone(cause) }
    guard failures.count + task.uploadedCount == task.resources.count else { return [] }  // stopped half-way
    guard failures.isEmpty || canPublishPart else {
      fail(failures[0])
      return []
    }
    if task.state == .exporting { move(to: .uploading) }
    task.waitingFor = .lane
    return [.awaitLane]
  }

  private var canPublishPart: Bool {
    let count = task.resources.count { $0.isDone && !$0.role.isDerived }
    return task.partial == .publish && count >= max(1, task.minResources)
  }

  /// After a failure that may pass: wait, or end where waiting has no sense any more.
  private mutating func postpone(_ cause: Failure) -> [TaskAction] {
    if isExpired {
      fail(expiry(cause))
      return []
    }
    if cause.needsFrontEnd {
      wait(for: .frontEnd, until: nil, cause)
      return []
    }
    if cause.isOffline {
      wait(for: .network, until: now + policy.networkProbeMs, cause)
      return []
    }
    if !task.hasProgressed { task.failedAttempts += 1 }
    if task.failedAttempts >= policy.attempts {
      if task.state != .delivering, canPublishPart {
        if task.state == .exporting { move(to: .uploading) }
        task.waitingFor = .lane
        return [.awaitLane]
      }
      fail(
        Failure(
          .attemptsExhausted, "gave up after \(task.failedAttempts) attempts; last: \(cause.message)",
          remedy: .needsUser, resource: cause.resource, httpStatus: cause.httpStatus))
      return []
    }
    let delay = policy.backoff.delayMs(afterFailedAttempts: max(task.failedAttempts, 1), jitter: jitter)
    wait(for: cause.retryAfterMs == nil ? .backoff : .host, until: now + max(delay, cause.retryAfterMs ?? 0), cause)
    return []
  }

  private mutating func wait(for reason: WaitReason, until time: Int64?, _ cause: Failure) {
    task.failure = cause
    move(to: .retrying, because: cause)
    task.waitingFor = reason
    task.nextAttemptAt = time
  }
}

// MARK: - Delivery

extension TaskStateMachine {
  private mutating func deliveryStarted() -> [TaskAction] {
    let isReady = task.state == .uploading && task.resources.allSatisfy { $0.isDone || $0.state == .failed }
    guard isReady else { return [] }
    let mode: DeliveryMode = task.deliveriesInDoubt > 0 ? .resend : .send
    task.deliveriesInDoubt += 1
    task.hasProgressed = false
    move(to: .delivering)
    return [.deliver(mode)]
  }

  private mutating func delivered(_ remoteId: String?) -> [TaskAction] {
    guard task.state == .delivering else { return [] }
    task.remoteId = remoteId
    task.failure = nil
    task.deliveriesInDoubt = 0
    move(to: .sent)
    return dropExports()
  }

  private mutating func deliveryFailed(_ failure: Failure) -> [TaskAction] {
    guard task.state == .delivering else { return [] }
    // A refusal is the service's last word on this key; any other clear "no" speaks of this one request only. What may
    // have arrived stays in doubt, also where it can't be tried again now (a journal on a disk that is full).
    if !failure.outcomeUnknown { task.deliveriesInDoubt = failure.isPermanent ? 0 : task.deliveriesInDoubt - 1 }
    if task.cancelRequested {
      if task.deliveriesInDoubt == 0 {
        move(to: .canceled)
        return dropExports()
      }
      fail(Self.unknownDelivery)
      return []
    }
    if failure.isPermanent {
      fail(failure)
      return []
    }
    return postpone(failure)
  }
}
