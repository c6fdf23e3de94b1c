import Digest
import ExportProtocol
import Glibc
import Platform
import SourceFiles
import Synchronization
public import TaskConfig
public import TaskModel

/// Makes exports in `exports/`: opens the source, checks that it is still the one that was submitted, has a worker make
/// the file, checks that the source has stayed the same meanwhile, digests the result and gives it its final name.
///
/// The same source and the same order are worked on once, however many tasks want it at once: who comes second waits, and
/// gets the file under a name of its own (a hard link). So every file has one owner, who removes it alone.
public final class ExportService: Exporter {
  private let folder: String
  private let sourcesFolder: String
  private let config: CurrentConfig
  private let pool: WorkerPool
  private let index = ExportIndex()
  private let turns = ExportTurns()
  /// Plans have workers of their own: they are quick, and a long film must not hold them up.
  private let planners: WorkerPool
  private let nextOrder = Atomic<Int64>(1)
  /// Resources over which a worker has died, or hung, once: a second time is no accident.
  private let crashes = Mutex<Set<String>>([])

  private static let unfinished = ".part"

  /// - Parameters:
  ///   - folder: for finished and unfinished exports; made by the caller.
  ///   - sourcesFolder: where fetched and copied sources lie.
  ///   - program: path of `taskcenter-export`.
  ///   - config: workers keep the memory limit that they began with.
  ///   - tellsLacks: whether workers say on stderr what this machine's sandbox lacks.
  public init(folder: String, sourcesFolder: String, program: String, config: CurrentConfig, tellsLacks: Bool = false) {
    self.folder = folder
    self.sourcesFolder = sourcesFolder
    self.config = config
    let workers = WorkerPool.Settings(
      program: program, folder: folder, memoryLimit: config.value.exports.memoryLimit, tellsLacks: tellsLacks)
    pool = WorkerPool(workers)
    planners = WorkerPool(workers)
  }

  public func export(
    _ resource: Resource, of task: SendTask, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> ExportedFile {
    let source = try open(resource)
    let job = job(for: resource, of: task, source)
    let crashKey = "\(task.id)/\(resource.index)"
    guard let source else { return try await make(job, resource.name, nil, crashKey: crashKey, key: nil, progress) }
    let key = try ExportIndex.key(job, source.identity)
    return try await turns.withTurn(key) {
      if let file = shared(key) { return file }
      return try await make(job, resource.name, source, crashKey: crashKey, key: key, progress)
    }
  }

  private func make(
    _ job: ExportJob, _ name: String, _ source: SourceFile?, crashKey: String, key: String?,
    _ progress: @escaping @Sendable (Double) -> Void
  ) async throws -> ExportedFile {
    let file = RandomName.make()
    let part = path(file + ExportService.unfinished)
    let order = order(job, name, output: part)
    do {
      let result = try await run(order, source, crashKey: crashKey, progress)
      try source?.verifyUnchanged()
      let made = try await finish(file, result, key: key)
      index.add(made)
      return made
    } catch {
      unlink(part)
      throw error
    }
  }

  public func plan(_ resource: Resource, of task: SendTask) async throws -> PlannedExport {
    let source = try open(resource)
    let order = order(job(for: resource, of: task, source), resource.name, output: nil)
    let report = try await planners.run(
      order, input: source?.file, timeoutMs: config.value.exports.timeoutMs, progress: { _ in })
    guard case .planned(_, let plan) = report else { throw ExportService.misunderstood }
    return plan
  }

  private func job(for resource: Resource, of task: SendTask, _ source: SourceFile?) -> ExportJob {
    ExportPlan.job(for: resource, of: task, size: source?.identity.size ?? 0, kinds: config.value.kinds)
  }

  /// - Parameter output: nil for a plan.
  private func order(_ job: ExportJob, _ name: String, output: String?) -> ExportOrder {
    ExportOrder(
      id: nextOrder.wrappingAdd(1, ordering: .relaxed).oldValue, job: job, name: name, output: output ?? "",
      plansOnly: output == nil)
  }

  private static let misunderstood = Failure(
    .internalError, "the export worker answered something else than it was asked", remedy: .retry)

  private func open(_ resource: Resource) throws(Failure) -> SourceFile? {
    let source: SourceFile
    switch resource.source {
    case .paths: return nil
    case .path(let path): source = try SourceFile.open(path)
    case .kept(_, let file), .url(_, let file):
      guard let file, let stored = try? SourceFile.open("\(sourcesFolder)/\(file)") else {
        throw Failure(.sourceMissing, "the store's own copy of \(resource.name) is gone", remedy: .needsUser)
      }
      source = stored
    }
    try source.verify(against: resource.identity)
    return source
  }

  private func run(
    _ order: ExportOrder, _ source: SourceFile?, crashKey: String, _ progress: @escaping @Sendable (Double) -> Void
  ) async throws -> ExportResult {
    do {
      let report = try await pool.run(
        order, input: source?.file, timeoutMs: config.value.exports.timeoutMs, progress: progress)
      crashes.withLock { _ = $0.remove(crashKey) }
      guard case .done(_, let result) = report else { throw ExportService.misunderstood }
      return result
    } catch var failure as Failure where failure.code == .exportCrashed || failure.code == .exportTimedOut {
      let isFirst = crashes.withLock { crashes in
        // When it is a second time, the count begins anew: a person may ask for another two.
        if crashes.remove(crashKey) != nil { return false }
        return crashes.insert(crashKey).inserted
      }
      if !isFirst { failure.remedy = .giveUp }
      throw failure
    }
  }

  /// The digests are of the file as it lies there, read once, and it is never written again.
  private func finish(_ file: String, _ result: ExportResult, key: String?) async throws -> ExportedFile {
    let part = path(file + ExportService.unfinished)
    do {
      let digest = try await FileDigest.compute(try OpenFile(path: part, flags: O_RDONLY))
      guard rename(part, path(file)) == 0 else { throw SystemError.last("rename") }
      try Folder.sync(folder)
      return ExportedFile(
        file: file, mime: result.mime, size: digest.size, md5: digest.md5, sha256: digest.sha256,
        width: result.width, height: result.height, durationMs: result.durationMs,
        blurhash: result.blurhash, rung: result.rung, key: key)
    } catch let error as SystemError {
      throw error.isDiskFull
        ? Failure(.diskFull, "there is no space left for the export", remedy: .needsUser)
        : Failure(.internalError, "the export can't be kept: \(error)", remedy: .retry)
    }
  }

  // MARK: Finished files

  public func isIntact(_ file: ExportedFile) -> Bool {
    guard let status = try? FileStatus.of(path: path(file.file)) else { return false }
    return status.isRegular && status.size == file.size
  }

  public func remove(_ file: ExportedFile) {
    index.remove(file)
    unlink(path(file.file))
  }

  public func sweep(keeping files: [ExportedFile]) {
    Orphans.wait(in: folder)
    let names = Set(files.map(\.file))
    for name in (try? Folder.entries(of: folder)) ?? [] where !names.contains(name) { unlink(path(name)) }
    for file in files { index.add(file) }
  }

  /// Another task's export of the same source by the same order, under a new name.
  private func shared(_ key: String) -> ExportedFile? {
    for other in index.find(key) where isIntact(other) {
      var file = other
      file.file = RandomName.make()
      // Where the file system has no links it is made again.
      guard link(path(other.file), path(file.file)) == 0, (try? Folder.sync(folder)) != nil else { continue }
      index.add(file)
      return file
    }
    return nil
  }

  private func path(_ name: String) -> String { "\(folder)/\(name)" }
}
