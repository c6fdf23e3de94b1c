import Glibc
import Platform
import TaskModel

/// An export, opened: what goes up.
struct UploadFile: Sendable {
  let file: OpenFile
  let export: ExportedFile

  /// - Throws: `Failure` with remedy `restart` where the export is not what it was, so that it has to be made again.
  init(_ export: ExportedFile, in folder: String) throws(Failure) {
    self.export = export
    do throws(SystemError) {
      // The folder is ours, and a name with a way in it is none of ours. Without O_NONBLOCK a FIFO would hang.
      guard !export.file.contains("/") else { throw SystemError("open", number: EINVAL) }
      file = try OpenFile(path: folder + "/" + export.file, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      let status = try file.status()
      guard status.isRegular, status.size == export.size else { throw SystemError("open", number: ESTALE) }
    } catch {
      let remedy: Remedy = error.isForbidden ? .needsUser : .restart
      throw Failure(.integrityMismatch, "the exported file can't be used: \(error.reason)", remedy: remedy)
    }
  }
}
