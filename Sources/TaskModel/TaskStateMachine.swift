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
  public internal(set) var task: SendTask
  /// What happened since this value was made, for the history.
  public private(set) var transitions: [Transition] = []
  /// What uploads had saved that nobody will finish; for `Uploader.abandon`.
  public internal(set) var abandoned: [JSONValue] = []

  let policy: RetryPolicy
  /// Milliseconds since 1970, when the event happened.
  let now: Int64
  /// Drawn by the caller from `Backoff.jitterRange`.
  let jitter: Double
  /// How long it has been trying, in milliseconds.
  let pendingMs: Int64

  /// - Parameter pendingMs: how long ago `pendingSince` really was; nil where the clock was not set since.
  public init(_ task: SendTask, policy: RetryPolicy, now: Int64, jitter: Double, pendingMs: Int64? = nil) {
    self.task = task
    self.pendingMs = pendingMs ?? now - task.pendingSince
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
    case .update(let change): actions = try update(change)
    case .turnCame: actions = turnCame()
    case .wake: actions = wake()
    case .rescued: actions = rescued()
    case .sourceFetched(let index, let refresh): actions = sourceFetched(index, refresh)
    case .exportStarted(let index): actions = stepStarted(index, .exporting)
    case .exportFinished(let index, let file): actions = exportFinished(index, file)
    case .exportLost(let index): actions = exportLost(index)
    case .uploadStarted(let index): actions = stepStarted(index, .uploading)
    case .uploadSaved(let index, let state): actions = uploadSaved(index, state)
    case .uploadDiscarded(let index): actions = uploadDiscarded(index)
    case .uploadFinished(let index, let result): actions = uploadFinished(index, result)
    case .stepFailed(let index, let failure): actions = stepFailed(index, failure)
    case .workEnded: actions = workEnded()
    case .deliveryStarted: actions = deliveryStarted()
    case .delivered(let remoteId): actions = delivered(remoteId)
    case .deliveryFailed(let failure): actions = deliveryFailed(failure)
    }
    task.updatedAt = now
    task.progress = Progress.of(task)
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
    return dropFiles() + dropSources()
  }

  mutating func dropSources() -> [TaskAction] {
    task.resources.indices.compactMap { dropSource(of: $0) }
  }

  mutating func dropSource(of index: Int) -> TaskAction? {
    guard let file = task.resources[index].source.file else { return nil }
    task.resources[index].source = task.resources[index].source.keeping(nil)
    // What is derived from a private copy is made from the same one.
    return task.resources.contains { $0.source.file == file } ? nil : .removeSource(file)
  }

  mutating func dropFiles() -> [TaskAction] {
    task.resources.indices.compactMap { index in
      guard let file = task.resources[index].export, !file.isRemoved else { return nil }
      task.resources[index].export?.file = ""
      return .removeExport(file)
    }
  }

  mutating func abandonUploads() {
    for index in task.resources.indices { abandonUpload(of: index) }
  }

  mutating func abandonUpload(of index: Int) {
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
