import Dispatch
import JSON
import SourceFiles
import TaskConfig
public import TaskModel
import TaskStorage

extension Engine {
  public struct Submitted: Sendable {
    public let task: SendTask
    /// False where the key was there before, with the same content.
    public let created: Bool
  }

  /// A submit that has its place in the order of submits.
  public struct PendingSubmit: Sendable {
    fileprivate enum Source { case known(Submitted), writing(PendingWrite<Inserted>, Writing) }
    fileprivate let source: Source

    /// Returns when the task is durable.
    /// - Throws: `EngineError`, the store's error; then nothing was stored.
    public func value() async throws -> Submitted {
      switch source {
      case .known(let submitted): return submitted
      case .writing(let write, let writing):
        let inserted: Inserted
        do {
          inserted = try await write.value()
        } catch {
          writing.engine.removeCopies(writing.files)
          throw error
        }
        if !inserted.submitted.created { writing.engine.removeCopies(writing.files) }
        for id in inserted.replaced { _ = try? await writing.engine.cancel(id) }
        return inserted.submitted
      }
    }
  }

  fileprivate struct Writing: Sendable {
    let engine: Engine
    /// Private copies that were made for it.
    let files: [String]
  }

  fileprivate struct Inserted: Sendable {
    let submitted: Submitted
    /// Tasks of the lane that give way to the new one.
    let replaced: [SendTask.ID]
  }

  /// Looks at a submission and its sources, and gives it its place; two calls one after the other keep their order.
  /// - Throws: `EngineError`; then nothing was stored.
  public func submit(_ submission: Submission) async throws -> PendingSubmit {
    guard !isStopping else { throw EngineError.shuttingDown }
    let content = submission.content
    // Before the sources are looked at: a repeat is answered also when they are gone.
    if let known = try await knownSubmission(submission, content) { return PendingSubmit(source: .known(known)) }
    let sources = try await SourceInspection.inspect(submission, keeper: parts.sources)
    do {
      let task = try makeTask(submission, sources)
      return PendingSubmit(
        source: .writing(insert(task, content: content), Writing(engine: self, files: sources.copies)))
    } catch {
      removeCopies(sources.copies)
      throw error
    }
  }

  /// Private copies that no task has come to own.
  fileprivate nonisolated func removeCopies(_ files: [String]) {
    for file in files { parts.sources.remove(file) }
  }

  private func knownSubmission(_ submission: Submission, _ content: String) async throws -> Submitted? {
    guard let key = submission.key else { return nil }
    let account = submission.account
    return try await store.read { try $0.repeated(account: account, key: key, content: content) }
  }

  private nonisolated func insert(_ task: SendTask, content: String) -> PendingWrite<Inserted> {
    store.enqueueWrite { transaction in
      if let key = task.key,
        let known = try transaction.repeated(account: task.account, key: key, content: content)
      {
        return Inserted(submitted: known, replaced: [])
      }
      let holders = task.state == .draft ? [] : try transaction.tasksHolding(task.laneID)
      if task.kind.busyPolicy == .reject, let holder = holders.first { throw EngineError.laneBusy(holder) }
      let inserted = try transaction.insert(task, contentHash: content)
      return Inserted(
        submitted: Submitted(task: inserted, created: true),
        replaced: task.kind.busyPolicy == .replace ? holders : [])
    }
  }

  /// What a submission becomes, if it is of a shape that its kind has.
  /// - Throws: `EngineError`.
  func makeTask(_ submission: Submission, _ sources: SourceInspection) throws -> SendTask {
    let roles = try KindRules(kinds: parts.config.value.kinds).roles(of: sources.submission, types: sources.types)
    let submitted = sources.submission.resources.enumerated().map { index, draft in
      Resource(
        index: index, role: roles[index], source: draft.source, name: sources.name(of: index),
        sourceMime: (sources.types[index] ?? .unknown).mime, identity: sources.identities[index])
    }
    let resources = submitted + (try Derivation.derived(from: submitted, sources.submission.resources))
    let now = parts.clock.now()
    var task = SendTask(
      id: TaskID.make(now: now), key: submission.key, account: submission.account, kind: submission.kind,
      lane: submission.lane ?? submission.kind.defaultLane,
      destination: try destination(of: submission), state: submission.isDraft ? .draft : .queued,
      partial: submission.partial, minResources: submission.minResources ?? 1,
      urgency: submission.urgency ?? submission.kind.defaultUrgency, notBefore: submission.notBefore,
      payload: submission.payload, resources: resources, createdAt: now)
    if task.state == .queued { task.waitingFor = (task.notBefore ?? 0) > now ? .notBefore : .slot }
    return task
  }

  /// The named destination, or the account's, or `default`'s.
  private func destination(of submission: Submission) throws -> String {
    let config = parts.config.value
    if let name = submission.destination {
      guard config.destinations[name] != nil else {
        let known = config.destinations.keys.sorted().joined(separator: ", ")
        throw EngineError.invalidSubmission(
          pointer: "/destination", message: "unknown destination \"\(name)\"; known: \(known)")
      }
      return name
    }
    return (config.accounts[submission.account] ?? config.accounts["default"])?.destination ?? Config.localDestination
  }
}

extension StoreTransaction {
  /// What was submitted with this key before.
  /// - Throws: `EngineError.keyConflict` where it was something else.
  fileprivate func repeated(account: String, key: String, content: String) throws -> Engine.Submitted? {
    guard let known = try submission(account: account, key: key), let task = try task(known.id) else { return nil }
    // Swift takes letters that are composed and decomposed for equal; what was submitted is bytes.
    guard known.contentHash.utf8.elementsEqual(content.utf8) else { throw EngineError.keyConflict(task.id) }
    return Engine.Submitted(task: task, created: false)
  }
}
