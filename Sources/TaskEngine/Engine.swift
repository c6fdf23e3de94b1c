import Synchronization
public import TaskConfig
public import TaskModel
import TaskStorage

/// The front object: owns the agenda and the runners. What it does is spread over extensions, one concern each: `+Startup`,
/// `+Submit`, `+Plan`, `+Control`, `+Schedule`, `+Queries`, `+Reload`.
public actor Engine {
  /// What the engine is made of.
  public struct Parts: Sendable {
    public var config: CurrentConfig
    public var exporter: any Exporter
    public var sources: any SourceKeeper
    public var uploader: any Uploader
    public var deliverer: any Deliverer
    public var clock: any Clock
    public var log: Log

    public init(
      config: CurrentConfig, exporter: any Exporter, sources: any SourceKeeper, uploader: any Uploader,
      deliverer: any Deliverer, clock: any Clock, log: Log
    ) {
      self.config = config
      self.exporter = exporter
      self.sources = sources
      self.uploader = uploader
      self.deliverer = deliverer
      self.clock = clock
      self.log = log
    }
  }

  nonisolated let parts: Parts
  nonisolated let time: EngineTime
  let store: TaskStore
  let ledger: TaskLedger
  let runner: TaskRunner
  let reaper: UploadReaper
  /// Of uploads: a large one may use what is free.
  public nonisolated let slotLender: any SlotLender
  /// Plans wait for one another, and for nothing else.
  let planSlots = Slots(limit: 1)
  public nonisolated let hub: EventHub
  public nonisolated let status: StatusBoard
  nonisolated let progress: ProgressBoard
  nonisolated let inputs: AsyncStream<Input>.Continuation
  private let inputStream: AsyncStream<Input>

  var agenda: Agenda
  /// What runs, by task; at most one runner each.
  var running: [SendTask.ID: Task<Void, Never>] = [:]
  /// Tasks that a command is just dealing with: nothing of them is started.
  var held: [SendTask.ID: Int] = [:]
  /// What some tasks still have to be told, because it could not be saved.
  var unsaved: [SendTask.ID: Owed] = [:]
  /// Tasks whose runner was stopped by a command that could not be saved then.
  var disturbed: Set<SendTask.ID> = []
  /// How often a front end has come.
  var arrivals = 0
  var timer: Task<Void, Never>?
  var timerDueAt: Int64 = .max
  var reportsScheduled = false
  /// What a dead engine left is rescued; before that nothing begins, whoever asks meanwhile.
  var hasStarted = false
  var isStopping = false
  var idleCallbacks: [@Sendable () -> Void] = []

  /// What the engine's loop is told, in order.
  enum Input: Sendable {
    case committed([Change])
    /// - Parameter arrivals: of front ends when it began.
    case runnerEnded(SendTask.ID, saved: Bool, arrivals: Int)
    case timeCame
    case progressed
    case idleAsked(@Sendable () -> Void)
  }

  struct Owed {
    let event: TaskEvent
    /// When to try again, on the steady clock.
    let due: Int64
  }

  /// Opens the store and makes the engine around it; nothing runs before `start`.
  /// - Parameter storePath: of the database file.
  /// - Throws: `StoreError`, `SQLiteError`.
  public init(storePath: String, parts: Parts) throws {
    let (stream, inputs) = AsyncStream<Input>.makeStream()
    let hub = EventHub()
    let progress = ProgressBoard(onDirty: { inputs.yield(.progressed) })
    let config = parts.config.value
    let uploadSlots = Slots(limit: config.uploads.slots)
    let exports = config.exports
    let exportSlots = Slots(limit: exports.slots, parts: exports.picturesPerSlot)
    let status = StatusBoard(uploadSlots: uploadSlots, exportSlots: exportSlots)
    let clock = parts.clock
    time = EngineTime(clock)
    store = try TaskStore(path: storePath, clock: { clock.now() }) { changes in
      for change in changes {
        if let task = change.task { progress.update(task, isDeletion: change.isDeletion) }
      }
      status.note(changes)
      hub.publish(changes)
      inputs.yield(.committed(changes))
    }
    status.begin(with: store.inventory.counts)
    // Before anybody can submit: what is copied from now on belongs to a task to come.
    parts.sources.sweep(
      keeping: store.inventory.sourceFiles, tasks: Set(store.inventory.unfinished.map(\.id)))
    reaper = UploadReaper(
      store: store, uploader: parts.uploader, clock: clock, backoff: config.retry.backoff, log: parts.log)
    ledger = TaskLedger(
      store: store, config: parts.config, time: time, reaper: reaper, progress: progress)
    runner = TaskRunner(
      ledger: ledger, exporter: parts.exporter, sources: parts.sources, uploader: parts.uploader,
      deliverer: parts.deliverer, exportSlots: exportSlots, uploadSlots: uploadSlots,
      fetchSlots: Slots(limit: TaskRunner.fetchesAtOnce), progress: progress)
    self.parts = parts
    slotLender = uploadSlots
    self.hub = hub
    self.status = status
    self.progress = progress
    self.inputs = inputs
    inputStream = stream
    agenda = Agenda(window: config.uploads.slots + 1)
  }

  /// The one loop that reacts; ends with `stop`.
  func runLoop() async {
    for await input in inputStream {
      switch input {
      case .committed(let changes): take(changes)
      case .runnerEnded(let id, let saved, let arrivals): await runnerEnded(id, saved: saved, arrivals: arrivals)
      case .timeCame: await timeCame()
      case .progressed: scheduleReports()
      case .idleAsked(let callback): tellWhenIdle(callback)
      }
    }
  }
}
