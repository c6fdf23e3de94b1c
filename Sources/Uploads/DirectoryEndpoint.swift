import Answers
import Dispatch
import Glibc
import Platform
import Synchronization
import TaskModel

/// Protocol `directory`: written beside under a random name, synced, renamed. After a crash there is the whole object or
/// none under its name; what a dead engine left beside is swept by the next upload of the same object.
final class DirectoryEndpoint: UploadEndpoint {
  static let name = "directory"

  private static let queue = DispatchQueue(label: "taskcenter.directory", attributes: .concurrent)

  private let place: ObjectPlace
  private let upload: UploadFile
  private let temporaryPath: String
  private let target = Mutex<OpenFile?>(nil)

  init(_ place: ObjectPlace, _ upload: UploadFile) {
    self.place = place
    self.upload = upload
    temporaryPath = "\(place.folder)/\(place.temporaryPrefix)\(RandomName.make()).part"
  }

  func create(save: @escaping UploadSave) async throws {
    try await perform { [self] _ in
      try Folder.makeDurably(place.folder)
      for name in try Folder.entries(of: place.folder) where name.hasPrefix(place.temporaryPrefix) {
        unlink(place.folder + "/" + name)
      }
      let file = try OpenFile(path: temporaryPath, flags: O_WRONLY | O_CREAT | O_EXCL)
      target.withLock { $0 = file }
    }
  }

  func append(from offset: Int64, progress: @escaping UploadProgress) async throws -> Int64 {
    guard let file = target.withLock({ $0 }) else {
      throw Failure(.internalError, "the object was not begun", remedy: .restart)
    }
    let source = upload.file
    let copied = try await perform { flag in
      let before = try source.status()
      let copied = try FileCopy.copy(source, to: file, flag, progress: progress)
      return try source.status() == before ? copied : -1
    }
    guard copied == upload.export.size else {
      throw Failure(.integrityMismatch, "the exported file changed while it was copied", remedy: .restart)
    }
    return copied
  }

  func finish() async throws -> UploadResult {
    let file = target.withLock { $0 }
    try await perform { [self] flag in
      try file?.sync()
      try flag.check()
      _ = try systemCall("rename") { rename(temporaryPath, place.path) }
      try Folder.sync(place.folder)
    }
    return UploadResult(url: place.url, uploadProtocol: Self.name)
  }

  func letGo() async {
    target.withLock { $0 = nil }
    // One entry of a local folder: too short to be worth another thread.
    unlink(temporaryPath)
  }

  /// Runs `work` where it may block, and says in a `Failure` what the system says by errno.
  private func perform<Result: Sendable>(
    _ work: @escaping @Sendable (CancelFlag) throws -> Result
  ) async throws -> Result {
    do {
      return try await Blocking.run(on: Self.queue, work)
    } catch let error as SystemError {
      throw Failure(writing: "the object can't be stored in the destination's folder", error)
    }
  }
}
