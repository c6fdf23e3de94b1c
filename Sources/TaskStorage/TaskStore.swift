import Dispatch
import SQLite

/// The owner of the SQLite handle: an actor on one serial queue, which lends its connection to closures.
///
/// Durable means WAL with `synchronous=FULL`: a commit is on the disk when `write` returns. Writes that wait while another
/// commit is on its way share the next one, each in a savepoint of its own, so that pipelined submits cost one sync.
public actor TaskStore {
  private let executor: QueueExecutor
  private let connection: Connection
  private let clock: @Sendable () -> Int64
  private let observer: @Sendable ([Change]) -> Void
  private var waiting: [any PendingWrite] = []

  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Opens the store at `path`, creating or migrating it.
  /// - Parameters:
  ///   - clock: milliseconds since 1970.
  ///   - observer: told every committed change, in order, on the store's queue; must be quick.
  /// - Throws: `StoreError`, `SQLiteError`.
  public init(
    path: String, clock: @escaping @Sendable () -> Int64, observer: @escaping @Sendable ([Change]) -> Void
  ) throws {
    let connection = try Connection(path: path)
    connection.setBusyTimeout(milliseconds: 60_000)
    try connection.execute(script: "PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")
    try Migrator.migrate(connection)
    self.connection = connection
    self.clock = clock
    self.observer = observer
    executor = QueueExecutor(label: "taskcenter.store")
  }

  /// Runs `body` without writing, on a state that no half-done write can be seen in.
  public func read<T: Sendable>(_ body: @Sendable (StoreTransaction) throws -> T) throws -> T {
    try body(StoreTransaction(connection, now: clock()))
  }

  /// Runs `body` in a transaction and returns when it is durable. If `body` throws, it has had no effect.
  public func write<T: Sendable>(_ body: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      waiting.append(Write(body: body, continuation: continuation))
      // Everyone who is queued before this job is in the same commit.
      if waiting.count == 1 { executor.enqueue { [self] in self.assumeIsolated { $0.commitWaiting() } } }
    }
  }

  private func commitWaiting() {
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

  private func run(_ write: any PendingWrite, in transaction: StoreTransaction) throws {
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
private protocol PendingWrite: AnyObject {
  func run(in transaction: StoreTransaction) throws
  /// Its own closure threw; the others of the batch are not concerned.
  func refuse(_ error: any Error)
  func succeed()
  func fail(_ error: any Error)
}

private final class Write<T: Sendable>: PendingWrite {
  private let body: @Sendable (StoreTransaction) throws -> T
  private let continuation: CheckedContinuation<T, any Error>
  private var outcome: Result<T, any Error>?

  init(body: @escaping @Sendable (StoreTransaction) throws -> T, continuation: CheckedContinuation<T, any Error>) {
    self.body = body
    self.continuation = continuation
  }

  func run(in transaction: StoreTransaction) throws { outcome = .success(try body(transaction)) }
  func refuse(_ error: any Error) { outcome = .failure(error) }
  func succeed() { if let outcome { continuation.resume(with: outcome) } }
  func fail(_ error: any Error) { continuation.resume(throwing: error) }
}
