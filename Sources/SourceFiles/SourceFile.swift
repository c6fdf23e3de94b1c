import Glibc
public import MediaTypes
public import Platform
public import TaskModel

/// A source that has been opened: from here on it is a descriptor, never again a name.
public struct SourceFile: Sendable {
  public let file: OpenFile
  public let identity: SourceIdentity

  /// Opens a regular file for reading. Never waits for a FIFO's writer and never blocks on a device.
  /// - Throws: `Failure` with `sourceMissing`, `sourceNotRegular` or `sourceUnreadable`.
  public static func open(_ path: String) throws(Failure) -> SourceFile {
    let file: OpenFile
    do {
      file = try OpenFile(path: path, flags: O_RDONLY | O_NONBLOCK)
    } catch {
      throw failure(of: error, path)
    }
    let status: FileStatus
    do { status = try file.status() } catch { throw failure(of: error, path) }
    guard status.isRegular else {
      let what = status.isFolder ? "a folder" : "not a regular file"
      throw Failure(.sourceNotRegular, "\(path) is \(what)", remedy: .needsUser)
    }
    return SourceFile(file: file, identity: SourceIdentity(status))
  }

  /// What the bytes say it is.
  /// - Throws: `Failure` with `sourceUnreadable`.
  public func type() throws(Failure) -> MediaType {
    var head = [UInt8](repeating: 0, count: MediaType.sniffLength)
    do {
      let count = try readHead(&head)
      return MediaType.of(Array(head.prefix(count)))
    } catch {
      throw Failure(.sourceUnreadable, "the file can't be read: \(error.reason)", remedy: .needsUser)
    }
  }

  private func readHead(_ head: inout [UInt8]) throws(SystemError) -> Int {
    let result = head.withUnsafeMutableBytes { buffer in
      Result { () throws(SystemError) in try file.read(into: buffer, at: 0) }
    }
    return try result.get()
  }

  /// Compares with what was found at submit.
  /// - Throws: `Failure` with `sourceChanged` where size or mtime are others.
  public func verify(against expected: SourceIdentity?) throws(Failure) {
    guard let expected, !identity.hasSameContent(as: expected) else { return }
    throw SourceFile.changed
  }

  /// The same question after reading: whether the file stayed as it was opened.
  /// - Throws: `Failure` with `sourceChanged` or `sourceUnreadable`.
  public func verifyUnchanged() throws(Failure) {
    do {
      guard SourceIdentity(try file.status()).hasSameContent(as: identity) else { throw SourceFile.changed }
    } catch let error as SystemError {
      throw Failure(.sourceUnreadable, "the file can't be read: \(error.reason)", remedy: .needsUser)
    } catch {
      throw SourceFile.changed
    }
  }

  private static let changed = Failure(
    .sourceChanged, "the file has changed since it was submitted; retry to send it as it is now", remedy: .needsUser)

  /// An error of open(2) or stat(2), as a person would put it.
  static func failure(of error: SystemError, _ path: String) -> Failure {
    switch error.number {
    case ENOENT, ENOTDIR: Failure(.sourceMissing, "\(path) does not exist", remedy: .needsUser)
    case ELOOP: Failure(.sourceUnreadable, "\(path) is a loop of links", remedy: .needsUser)
    case ENXIO: Failure(.sourceNotRegular, "\(path) is not a regular file", remedy: .needsUser)
    default: Failure(.sourceUnreadable, "\(path) can't be opened: \(error.reason)", remedy: .needsUser)
    }
  }
}

extension SourceIdentity {
  init(_ status: FileStatus) {
    self.init(
      size: status.size, modifiedNs: status.modifiedNs, changedNs: status.changedNs, inode: status.inode)
  }
}

/// A file or folder that goes into an archive.
public enum ArchiveMember {
  /// - Throws: `Failure` where it is missing, unreadable, or neither a regular file nor a folder.
  public static func check(_ path: String) throws(Failure) {
    let status: FileStatus
    do { status = try FileStatus.of(path: path) } catch { throw SourceFile.failure(of: error, path) }
    guard status.isRegular || status.isFolder else {
      throw Failure(.sourceNotRegular, "\(path) is neither a file nor a folder", remedy: .needsUser)
    }
    guard access(path, status.isFolder ? R_OK | X_OK : R_OK) == 0 else {
      throw Failure(
        .sourceUnreadable, "\(path) can't be opened: \(SystemError.last("access").reason)", remedy: .needsUser)
    }
  }
}
