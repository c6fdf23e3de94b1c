import JSON
import TaskModel

// What the uploads of one attempt share, and what each of them keeps.

/// The upload session of one attempt, opened by the first upload that has a slot.
actor UploadSessionBox {
  private let uploader: any Uploader
  private var opened: (any UploadSession)?
  private var latest: SendTask?

  init(_ uploader: any Uploader) { self.uploader = uploader }

  func session(for task: SendTask) async throws -> any UploadSession {
    if let opened { return opened }
    let session = try uploader.session(for: task)
    opened = session
    if let latest { await session.note(latest) }
    return session
  }

  /// The session's first upload may have had to wait for a slot while others were exported.
  func note(_ task: SendTask) async {
    latest = task
    await opened?.note(task)
  }
}

/// A resource's upload state, kept in the store.
struct SavedUpload: UploadMemory {
  let saved: JSONValue?
  private let id: SendTask.ID
  private let index: Int
  private let ledger: TaskLedger

  init(_ task: SendTask, _ index: Int, _ ledger: TaskLedger) {
    id = task.id
    self.index = index
    self.ledger = ledger
    saved = task.resources[index].uploadState
  }

  func save(_ state: JSONValue) async throws { try await ledger.apply(.uploadSaved(index, state), to: id) }

  func discard() async throws { try await ledger.apply(.uploadDiscarded(index), to: id) }
}
