import Dispatch
import SQLite
public import TaskModel

/// The owner of the SQLite handle: an actor on one serial queue, which lends its connection to closures.
///
/// Durable means WAL with `synchronous=FULL`: a commit is on the disk when `write` returns. Writes that wait while another
/// commit is on its way share the next one (`Commit`), so that pipelined submits cost one sync.
public actor TaskStore {
  private let executor: QueueExecutor
  private let connection: Connection
  private let clock: @Sendable () -> Int64
  private let observer: @Sendable ([Change]) -> Void
  private var waiting: [any WaitingWrite] = []
  /// A commit of what waits is the queue's next job.
  private var isDue = false
  private var isPlanned = false
  private var recent = RecentTasks()

  /// How long a write that may wait does so for another one to share its commit with. A small file on a fast line is
  /// up in this time, and a sync for its start alone would only keep back the one for its end.
  private static let pause = DispatchTimeInterval.milliseconds(4)

  /// What was in the store when it was opened: read before anybody can have written to it.
  public nonisolated let inventory: Inventory

  public struct Inventory: Sendable {
    /// Everything that is not final, in submit order: what the engine has to do with.
    public let unfinished: [SendTask]
    public let counts: [TaskState: Int]
    /// Export files that some task still refers to.
    public let exportFiles: [ExportedFile]
    /// The same of files in `sources/`.
    public let sourceFiles: Set<String>
  }

  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Opens the store at `path`, creating or migrating it.
  /// - Parameters:
  ///   - clock: milliseconds since 1970.
  ///   - observer: told every committed change, in order, on the store's queue; must be quick.
  /// - Throws: `StoreError`, `SQLiteError`.
  public init(
    path: String, clock: @escaping @Sendable () -> Int64, observer: @escaping @Sendable ([Change]) -> Void
  ) throws {
    try StoreFile.createIfMissing(path)
    let connection = try Connection(path: path)
    connection.setBusyTimeout(milliseconds: 60_000)
    try connection.execute(script: "PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")
    try Migrator.migrate(connection)
    let reading = StoreTransaction(connection, now: clock())
    inventory = Inventory(
      unfinished: try reading.unfinishedTasks(), counts: try reading.stateCounts(),
      exportFiles: try reading.exportFiles(), sourceFiles: try reading.sourceFiles())
    self.connection = connection
    self.clock = clock
    self.observer = observer
    executor = QueueExecutor(label: "taskcenter.store")
  }

  /// Runs `body` without writing, after every write that was handed in before it.
  public func read<T: Sendable>(_ body: @Sendable (StoreTransaction) throws -> T) throws -> T {
    if !waiting.isEmpty { commitWaiting() }
    return try body(StoreTransaction(connection, now: clock()))
  }

  /// Runs `body` in a transaction and returns when it is durable. If `body` throws, it has had no effect.
  public func write<T: Sendable>(_ body: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      add(Write(body: body) { continuation.resume(with: $0) })
    }
  }

  /// The same, taking its place in the order of writes at once, before anything is awaited.
  public nonisolated func enqueueWrite<T: Sendable>(
    _ body: @escaping @Sendable (StoreTransaction) throws -> T
  ) -> PendingWrite<T> {
    let (stream, continuation) = AsyncThrowingStream<T, any Error>.makeStream()
    executor.enqueue { [self] in
      assumeIsolated { store in
        store.add(
          Write(body: body) { result in
            switch result {
            case .success(let value):
              continuation.yield(value)
              continuation.finish()
            case .failure(let error): continuation.finish(throwing: error)
            }
          })
      }
    }
    return PendingWrite(stream: stream)
  }

  /// Saves what `decide` makes of a task and returns when it is durable. The task is nil where there is none.
  public func update<T: Sendable>(
    _ id: SendTask.ID,
    by decide: @escaping @Sendable (SendTask?) throws -> (update: TaskUpdate?, answer: T)
  ) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      add(Update(id: id, decide: decide) { continuation.resume(with: $0) })
    }
  }

  /// The same for what promises nothing, taking its place in the order of writes at once. Nobody waits for it, and it waits a
  /// moment for another write to share its commit with.
  public nonisolated func enqueueUpdate(
    _ id: SendTask.ID, by decide: @escaping @Sendable (SendTask?) throws -> TaskUpdate?
  ) {
    executor.enqueue { [self] in
      assumeIsolated { $0.add(Update(id: id, decide: { (try decide($0), ()) }, answer: { _ in }), mayWait: true) }
    }
  }

  /// Runs `body` on the store's queue, where no commit and no change that is told of one comes between. It must be quick.
  public nonisolated func betweenCommits(_ body: @escaping @Sendable () -> Void) { executor.enqueue(body) }

  private func add(_ write: any WaitingWrite, mayWait: Bool = false) {
    waiting.append(write)
    guard !isDue else { return }
    if !mayWait {
      isDue = true
      // Everyone who is queued before this job is in the same commit.
      executor.enqueue { [self] in self.assumeIsolated { $0.commitWaiting() } }
    } else if !isPlanned {
      isPlanned = true
      executor.enqueue(at: .now() + Self.pause) { [self] in
        self.assumeIsolated { store in
          store.isPlanned = false
          store.commitWaiting()
        }
      }
    }
  }

  private func commitWaiting() {
    isDue = false
    guard !waiting.isEmpty else { return }
    let writes = waiting
    waiting = []
    let changes: [Change]
    do {
      let commit = try Commit(StoreTransaction(connection, now: clock()), recent: recent)
      for write in writes { try write.run(in: commit) }
      (changes, recent) = try commit.finish()
    } catch {
      // SQLite may have rolled back already (SQLITE_FULL, SQLITE_IOERR); then this has nothing to do.
      try? connection.execute("ROLLBACK")
      recent.forgetAll()
      for write in writes { write.fail(error) }
      return
    }
    if !changes.isEmpty { observer(changes) }
    for write in writes { write.succeed() }
  }
}
