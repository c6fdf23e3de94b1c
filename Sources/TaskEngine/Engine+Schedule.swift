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
    guard hasStarted, !isStopping else { return }
    for id in agenda.turns(in: lane, now: time.now()) { start(id) { try await $0.work(id) } }
    if let id = agenda.delivery(in: lane) { start(id) { try await $0.deliver(id) } }
  }

  private func start(_ id: SendTask.ID, _ body: @escaping @Sendable (TaskRunner) async throws -> Void) {
    guard running[id] == nil, held[id] == nil, unsaved[id] == nil else { return }
    let (runner, inputs, log, arrivals) = (runner, inputs, parts.log, arrivals)
    running[id] = Task {
      do {
        try await body(runner)
        inputs.yield(.runnerEnded(id, saved: true, arrivals: arrivals))
      } catch EngineError.notFound {
        inputs.yield(.runnerEnded(id, saved: true, arrivals: arrivals))
      } catch {
        log(.error, "task \(id): its state could not be saved: \(error)")
        inputs.yield(.runnerEnded(id, saved: false, arrivals: arrivals))
      }
    }
  }

  /// Comes after every change that the runner has committed, so the agenda is up to date about this task.
  func runnerEnded(_ id: SendTask.ID, saved: Bool, arrivals: Int) async {
    running[id] = nil
    if disturbed.remove(id) != nil || !saved { owe(.rescued, to: id) }
    // It may have found nobody a moment before somebody came, and have said only now that it waits.
    if arrivals != self.arrivals { await wakeAll(waitingFor: .frontEnd) }
    if let lane = agenda.lane(of: id) { schedule(lane) }
    setTimer()
    tellIfIdle()
  }

  /// Keeps everybody's hands off a task while a command deals with it.
  func withHeld<T: Sendable>(_ id: SendTask.ID, _ body: () async throws -> T) async throws -> T {
    hold(id)
    defer { release(id) }
    do {
      return try await body()
    } catch let error where !(error is EngineError) {
      // The store still says that the task runs; its runner may have been stopped for what could not be saved.
      if running[id] == nil { owe(.rescued, to: id) } else { disturbed.insert(id) }
      throw error
    }
  }

  func hold(_ id: SendTask.ID) { held[id, default: 0] += 1 }

  func release(_ id: SendTask.ID) {
    held[id, default: 1] -= 1
    if held[id] == 0 { held[id] = nil }
    setTimer()
    if let lane = agenda.lane(of: id) { schedule(lane) }
  }

  /// Ends what runs for `id` and returns when it has ended.
  func stopRunner(of id: SendTask.ID) async {
    guard let runner = running[id] else { return }
    runner.cancel()
    await runner.value
  }

  // MARK: Time

  private func owe(_ event: TaskEvent, to id: SendTask.ID) {
    unsaved[id] = Owed(event: event, due: time.now().steady + parts.config.value.retry.networkProbeMs)
  }

  /// An appointment is kept also where the clock is set forward to it: nobody tells, so it is looked at so often.
  private static let longestSleepMs: Int64 = 60_000

  private func setTimer() {
    guard !isStopping else { return }
    let now = time.now()
    let next = agenda.nextDue(after: now) { held[$0] != nil || unsaved[$0] != nil }
    let rests = [next, unsaved.values.map(\.due).min().map { $0 - now.steady }]
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
    for (id, owed) in unsaved where owed.due <= now.steady { await saveAgain(owed.event, of: id) }
    scheduleEverything()
  }

  func wake(_ id: SendTask.ID) async {
    guard held[id] == nil else { return }
    if await !tell(.wake, to: id) { setTimer() }
  }

  /// After a failed commit the store still says that the task runs, though nothing does; or that it waits, though what it
  /// waited for has come.
  private func saveAgain(_ event: TaskEvent, of id: SendTask.ID) async {
    if await tell(event, to: id) { unsaved[id] = nil }
  }

  /// - Returns: false where it can't be saved, and is owed.
  @discardableResult
  func tell(_ event: TaskEvent, to id: SendTask.ID) async -> Bool {
    do {
      try await ledger.apply(event, to: id)
    } catch EngineError.notFound {
      // A front end was quicker and has deleted it.
    } catch {
      parts.log(.error, "task \(id): its state could not be saved: \(error)")
      owe(event, to: id)
      return false
    }
    return true
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

  /// Between commits, so that a report is never told before changes that are older than it, nor after younger ones: neither
  /// those of a commit that is under way, nor those that a subscription with `since` has missed.
  private func publishReports() {
    let (progress, hub, time) = (progress, hub, time)
    store.betweenCommits {
      let reports = progress.takeReports()
      if !reports.isEmpty { hub.publish(reports, now: time.now().steady) }
    }
  }

  // MARK: Idleness

  /// A task that waits longer than this does not keep a lingering engine alive.
  static let lingerPatienceMs: Int64 = 60_000

  private var isIdle: Bool {
    running.isEmpty && !agenda.isBusy(now: time.now(), patience: Engine.lingerPatienceMs)
  }

  /// Calls back, once, when nothing runs and nothing is about to. The question waits in line behind everything that was
  /// committed before it: a task that was just submitted, or that a start has just found, is on the agenda by then.
  public nonisolated func whenIdle(_ callback: @escaping @Sendable () -> Void) { inputs.yield(.idleAsked(callback)) }

  func tellWhenIdle(_ callback: @escaping @Sendable () -> Void) {
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
