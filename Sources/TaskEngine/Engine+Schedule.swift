import TaskModel
import TaskStorage

// Reacting to what was committed: who starts, who is delivered, who is woken when.

extension Engine {
  func take(_ changes: [Change]) {
    var lanes: Set<LaneID> = []
    for change in changes {
      guard let task = change.task else { continue }
      lanes.insert(task.laneID)
      if change.isDeletion { agenda.remove(task.id) } else { note(task) }
    }
    for lane in lanes { schedule(lane) }
    setTimer()
    tellIfIdle()
  }

  func note(_ task: SendTask) {
    let retryAt = task.nextAttemptAt.map { time.end(ofWaitUntil: $0, decidedAt: task.updatedAt) }
    agenda.update(task, retryAt: retryAt)
  }

  func scheduleEverything() {
    for lane in agenda.knownLanes { schedule(lane) }
    setTimer()
    tellIfIdle()
  }

  private func schedule(_ lane: LaneID) {
    guard !isStopping else { return }
    for id in agenda.turns(in: lane, now: time.now()) { start(id) { try await $0.work(id) } }
    if let id = agenda.delivery(in: lane) { start(id) { try await $0.deliver(id) } }
  }

  private func start(_ id: SendTask.ID, _ body: @escaping @Sendable (TaskRunner) async throws -> Void) {
    guard running[id] == nil, held[id] == nil, unsaved[id] == nil else { return }
    let (runner, inputs, log) = (runner, inputs, parts.log)
    running[id] = Task {
      do {
        try await body(runner)
        inputs.yield(.runnerEnded(id, saved: true))
      } catch EngineError.notFound {
        inputs.yield(.runnerEnded(id, saved: true))
      } catch {
        log(.error, "task \(id): its state could not be saved: \(error)")
        inputs.yield(.runnerEnded(id, saved: false))
      }
    }
  }

  /// Comes after every change that the runner has committed, so the agenda is up to date about this task.
  func runnerEnded(_ id: SendTask.ID, saved: Bool) {
    running[id] = nil
    if !saved { unsaved[id] = nextSave }
    if let lane = agenda.lane(of: id) { schedule(lane) }
    setTimer()
    tellIfIdle()
  }

  /// Keeps everybody's hands off a task while a command deals with it.
  func withHeld<T: Sendable>(_ id: SendTask.ID, _ body: () async throws -> T) async throws -> T {
    held[id, default: 0] += 1
    defer {
      held[id, default: 1] -= 1
      if held[id] == 0 { held[id] = nil }
      setTimer()
      if let lane = agenda.lane(of: id) { schedule(lane) }
    }
    return try await body()
  }

  /// Ends what runs for `id` and returns when it has ended.
  func stopRunner(of id: SendTask.ID) async {
    guard let runner = running[id] else { return }
    runner.cancel()
    await runner.value
  }

  // MARK: Time

  private var nextSave: Int64 { time.now().steady + parts.config.value.retry.networkProbeMs }

  /// An appointment is kept also where the clock is set forward to it: nobody tells, so it is looked at so often.
  private static let longestSleepMs: Int64 = 60_000

  private func setTimer() {
    guard !isStopping else { return }
    let now = time.now()
    let next = agenda.nextDue(after: now) { held[$0] != nil || unsaved[$0] != nil }
    let rests = [next, unsaved.values.min().map { $0 - now.steady }]
    let due = rests.compactMap { $0 }.min().map { now.steady + $0 } ?? .max
    // A timer that comes too early does no harm, and one that is put off again and again would never come.
    guard due < timerDueAt else { return }
    timer?.cancel()
    timerDueAt = due
    let (clock, inputs) = (parts.clock, inputs)
    timer = Task {
      let rest = min(max(0, due - now.steady), Engine.longestSleepMs)
      guard (try? await clock.sleep(milliseconds: rest)) != nil else { return }
      inputs.yield(.timeCame)
    }
  }

  func timeCame() async {
    timerDueAt = .max
    let now = time.now()
    for id in agenda.dueTasks(now: now) where unsaved[id] == nil { await wake(id) }
    for (id, due) in unsaved where due <= now.steady { await saveAgain(id) }
    scheduleEverything()
  }

  func wake(_ id: SendTask.ID) async {
    guard held[id] == nil else { return }
    do { try await ledger.apply(.wake, to: id) } catch { giveUpSaving(id, error) }
  }

  /// After a failed commit the store still says that the task runs, though nothing does.
  private func saveAgain(_ id: SendTask.ID) async {
    do {
      try await ledger.apply(.rescued, to: id)
      unsaved[id] = nil
    } catch EngineError.notFound {
      unsaved[id] = nil
    } catch { giveUpSaving(id, error) }
  }

  private func giveUpSaving(_ id: SendTask.ID, _ error: any Error) {
    parts.log(.error, "task \(id): its state could not be saved: \(error)")
    unsaved[id] = nextSave
  }

  // MARK: Progress

  static let reportIntervalMs: Int64 = 100

  func scheduleReports() {
    guard !reportsScheduled else { return }
    reportsScheduled = true
    let clock = parts.clock
    Task {
      publishReports()
      try? await clock.sleep(milliseconds: Engine.reportIntervalMs)
      reportsScheduled = false
      publishReports()
    }
  }

  private func publishReports() {
    let reports = progress.takeReports()
    if !reports.isEmpty { hub.publish(reports, now: time.now().steady) }
  }

  // MARK: Idleness

  /// A task that waits longer than this does not keep a lingering engine alive.
  static let lingerPatienceMs: Int64 = 60_000

  public var isIdle: Bool {
    running.isEmpty && !agenda.isBusy(now: time.now(), patience: Engine.lingerPatienceMs)
  }

  /// Calls back, once, when nothing runs and nothing is about to.
  public func whenIdle(_ callback: @escaping @Sendable () -> Void) {
    idleCallbacks.append(callback)
    tellIfIdle()
  }

  func tellIfIdle() {
    guard !idleCallbacks.isEmpty, isIdle else { return }
    let callbacks = idleCallbacks
    idleCallbacks = []
    for callback in callbacks { callback() }
  }
}
