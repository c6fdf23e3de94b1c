import Glibc
import Platform
import TaskModel

/// An export, opened: what goes up.
struct UploadFile: Sendable {
  let file: OpenFile
  let export: ExportedFile
  private let status: FileStatus

  /// - Throws: `Failure` with remedy `restart` where the export is not what it was, so that it has to be made again.
  init(_ export: ExportedFile, in folder: String) throws(Failure) {
    self.export = export
    do throws(SystemError) {
      // The folder is ours, and a name with a way in it is none of ours. Without O_NONBLOCK a FIFO would hang.
      guard !export.file.contains("/") else { throw SystemError("open", number: EINVAL) }
      file = try OpenFile(path: folder + "/" + export.file, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      status = try file.status()
      guard status.isRegular, status.size == export.size else { throw SystemError("open", number: ESTALE) }
    } catch {
      let remedy: Remedy = error.isForbidden ? .needsUser : .restart
      throw Failure(.integrityMismatch, "the exported file can't be used: \(error.reason)", remedy: remedy)
    }
  }

  static let changed = Failure(
    .integrityMismatch, "the exported file changed while it went up", remedy: .restart)

  /// Compared with a later look, over tries and restarts, it tells whether somebody wrote into the file. Not its ctime,
  /// which a new link changes too.
  var version: Int64 { status.modifiedNs ^ Int64(bitPattern: status.inode) }

  /// Call when the last byte went out and before the object becomes visible: parts of two versions are no file.
  /// - Throws: `Failure` where somebody wrote into the file meanwhile.
  func checkUnchanged() throws(Failure) {
    guard let now = try? file.status(), now.size == status.size, now.modifiedNs == status.modifiedNs else {
      throw Self.changed
    }
  }
}
