import Glibc
public import TaskModel

/// The unfinished file of an export: written by the worker alone, durable when it is complete, and gone when it is not.
public final class OutputFile {
  public let path: String
  /// Open for writing; closed with this value.
  public let descriptor: Int32
  private var isComplete = false

  /// - Parameter path: absolute; a file of that name is emptied, a link is refused.
  /// - Throws: `Failure`.
  public static func create(_ path: String) throws(Failure) -> OutputFile {
    let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Failure.writing(errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      // A device of that name must not be removed when the export fails.
      throw Failure.writing(EINVAL)
    }
    return OutputFile(path: path, descriptor: descriptor)
  }

  private init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit {
    if !isComplete { unlink(path) }
    close(descriptor)
  }

  /// Bytes.
  /// - Throws: `Failure`.
  public func size() throws(Failure) -> Int64 {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Failure.writing(errno) }
    return Int64(status.st_size)
  }

  /// Makes the bytes durable and keeps the file.
  /// - Returns: its size in bytes.
  /// - Throws: `Failure`; the file is gone then.
  public func complete() throws(Failure) -> Int64 {
    guard fsync(descriptor) == 0 else { throw Failure.writing(errno) }
    let size = try size()
    isComplete = true
    return size
  }
}

extension Failure {
  /// What a system error means that stopped the writing of an export.
  /// - Parameter number: an `errno`.
  public static func writing(_ number: Int32) -> Failure {
    switch number {
    case ENOSPC, EDQUOT: Failure(.diskFull, "There is no space left for the export", remedy: .needsUser)
    case EFBIG: Failure(.tooLarge, "The export grew larger than it may become", remedy: .needsUser)
    default:
      Failure(.internalError, "The export can't be written: \(String(cString: strerror(number)))", remedy: .retry)
    }
  }
}
