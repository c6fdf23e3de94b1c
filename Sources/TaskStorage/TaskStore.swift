import Dispatch
import SQLite
public import TaskModel

/// The owner of the SQLite handle: an actor on one serial queue, which lends its connection to closures.
///
/// Durable means WAL with `synchronous=FULL`: a commit is on the disk when `write` returns. Writes that wait while another
/// commit is on its way share the next one, each in a savepoint of its own, so that pipelined submits cost one sync.
public actor TaskStore {
  private let executor: QueueExecutor
  private let connection: Connection
  private let clock: @Sendable () -> Int64
  private let observer: @Sendable ([Change]) -> Void
  private var waiting: [any WaitingWrite] = []

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

  private func add(_ write: any WaitingWrite) {
    waiting.append(write)
    // Everyone who is queued before this job is in the same commit.
    if waiting.count == 1 { executor.enqueue { [self] in self.assumeIsolated { $0.commitWaiting() } } }
  }

  private func commitWaiting() {
    guard !waiting.isEmpty else { return }
    let writes = waiting
    waiting = []
    let transaction = StoreTransaction(connection, now: clock())
    do {
      try connection.execute("BEGIN IMMEDIATE")
      for write in writes { try run(write, in: transaction) }
      try connection.execute("COMMIT")
    } catch {
      // SQLite may have rolled back already (SQLITE_FULL, SQLITE_IOERR); then this has nothing to do.
      try? connection.execute("ROLLBACK")
      for write in writes { write.fail(error) }
      return
    }
    if !transaction.changes.isEmpty { observer(transaction.changes) }
    for write in writes { write.succeed() }
  }

  private func run(_ write: any WaitingWrite, in transaction: StoreTransaction) throws {
    try connection.execute("SAVEPOINT one_write")
    let mark = transaction.changes.count
    do {
      try write.run(in: transaction)
    } catch {
      // If SQLite has ended the whole transaction itself, this fails and with it the batch.
      try connection.execute("ROLLBACK TO one_write")
      transaction.forgetChanges(after: mark)
      write.refuse(error)
    }
    try connection.execute("RELEASE one_write")
  }
}

/// One waiting write: run once, answered once.
private protocol WaitingWrite: AnyObject {
  func run(in transaction: StoreTransaction) throws
  /// Its own closure threw; the others of the batch are not concerned.
  func refuse(_ error: any Error)
  func succeed()
  func fail(_ error: any Error)
}

private final class Write<T: Sendable>: WaitingWrite {
  private let body: @Sendable (StoreTransaction) throws -> T
  private let answer: (Result<T, any Error>) -> Void
  private var outcome: Result<T, any Error>?

  init(
    body: @escaping @Sendable (StoreTransaction) throws -> T, answer: @escaping (Result<T, any Error>) -> Void
  ) {
    self.body = body
    self.answer = answer
  }

  func run(in transaction: StoreTransaction) throws { outcome = .success(try body(transaction)) }
  func refuse(_ error: any Error) { outcome = .failure(error) }
  func succeed() { if let outcome { answer(outcome) } }
  func fail(_ error: any Error) { answer(.failure(error)) }
}

/// A write that has its place in the order; not yet durable.
public struct PendingWrite<T: Sendable>: Sendable {
  fileprivate let stream: AsyncThrowingStream<T, any Error>

  /// Returns when it is durable.
  /// - Throws: what the closure threw, or the store's error; then it has had no effect.
  public func value() async throws -> T {
    for try await value in stream { return value }
    throw CancellationError()
  }
}
