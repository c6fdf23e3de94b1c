import Synchronization
import TaskModel

/// Uploads of one attempt, by credentials that a service issues.
struct CredentialSession: UploadSession {
  let broker: CredentialBroker
  let tools: UploadTools
  let exportsFolder: String

  func note(_ task: SendTask) async { await broker.note(task) }

  func upload(
    _ resource: Resource, of task: SendTask, memory: any UploadMemory, progress: @escaping @Sendable (Int64) -> Void
  ) async throws -> UploadResult {
    let hasAdvanced = Advance()
    do {
      let file = try UploadFile(try resource.finishedExport(), in: exportsFolder)
      return try await upload(file, resource.index, of: task, memory, hasAdvanced, progress)
    } catch var failure as Failure {
      failure.madeProgress = hasAdvanced.isMade
      throw failure.at(resource: resource.index)
    }
  }

  private func upload(
    _ file: UploadFile, _ index: Int, of task: SendTask, _ memory: any UploadMemory, _ advance: Advance,
    _ progress: @escaping UploadProgress
  ) async throws -> UploadResult {
    let broker = broker
    let request = CredentialRequest(task, isRenewal: false, only: index).json.object
    let checkpoint = UploadCheckpoint(memory, file.export, request: request) {
      await broker.note(underWay: $0, for: index)
    }
    await broker.note(underWay: checkpoint.state, for: index)
    var refused: Int?
    while true {
      let issue = try await broker.issue(for: index, of: task, refused: refused)
      guard let credential = issue.credential else {
        throw Failure(.badAnswer, "the service issued no credential for resource \(index)", remedy: .giveUp)
      }
      let watch = UploadWatch(
        moved: { await broker.noteProgress() }, advanced: { advance.make() },
        isExpiring: { await broker.isExpiring(issue) })
      do {
        return try await UploadProtocol.run(
          credential, file, name: task.resources[index].name, token: "\(task.id)/\(index)", checkpoint, tools, watch,
          progress)
      } catch let failure as Failure where failure.remedy == .refreshCredential {
        // The broker knows whether a fresh one has been refused already, and ends this loop, unless the server takes the
        // same piece again for each of them.
        guard advance.mayRenew() else { throw failure.final }
        refused = issue.generation
      }
    }
  }
}

/// Whether the server got more than it had.
private final class Advance: Sendable {
  /// More than a large file needs that has to be sent again by URLs which live for a few pieces.
  private static let longestVainRenewals = 1_000

  private let made = Atomic<Bool>(false)
  private let renewals = Atomic<Int>(0)
  var isMade: Bool { made.load(ordering: .acquiring) }

  func make() {
    made.store(true, ordering: .releasing)
    renewals.store(0, ordering: .releasing)
  }

  /// - Returns: false where renewals have brought nothing too often.
  func mayRenew() -> Bool { renewals.add(1, ordering: .acquiringAndReleasing).newValue <= Self.longestVainRenewals }
}

extension Failure {
  fileprivate var final: Failure {
    var copy = self
    copy.remedy = .needsUser
    return copy
  }
}
