import Glibc
import JSON
import Platform

/// A JSONL file to which a line is added durably and once per task. It survives a crash at any point: a line counts when
/// its newline is there, what a dead writer left without one is cut off by the next, and a line whose writer died before
/// it could say so is found by its task id.
///
/// An flock(2) keeps two processes with the same journal apart. A file that was moved away meanwhile (log rotation) is
/// noticed, and a new one is begun. Everything here blocks.
struct Journal: Sendable {
  let path: String

  private static let chunk = 256 << 10

  /// - Parameters:
  ///   - line: without newline; its first member should be `taskId`.
  ///   - unlessThere: look for a line of this task first, and add none if there is one.
  /// - Returns: whether the line was added.
  /// - Throws: `SystemError`, then nothing was added; `Unsure`; or `CancellationError` before anything was written.
  func append(_ line: [UInt8], taskId: String, unlessThere: Bool, _ flag: CancelFlag) throws -> Bool {
    let file = try open(flag)
    var end = try file.status().size
    let wholeEnd = try endOfLastLine(file, size: end)
    if wholeEnd < end {
      try file.truncate(to: wholeEnd)
      end = wholeEnd
    }
    if unlessThere, try contains(taskId, file, end: end, flag) {
      // Whoever wrote it may have died before it was on the disk.
      try sync(file)
      return false
    }
    try flag.check()
    do {
      try (line + [UInt8(ascii: "\n")]).withUnsafeBytes { try file.write($0) }
    } catch {
      try? file.truncate(to: end)
      throw error
    }
    try sync(file)
    return true
  }

  /// The line was written, and nobody knows whether it would survive a power cut.
  struct Unsure: Error {
    let cause: SystemError
  }

  private func sync(_ file: OpenFile) throws(Unsure) {
    do {
      try file.sync()
    } catch {
      throw Unsure(cause: error)
    }
  }

  // MARK: - The file and its lock

  private func open(_ flag: CancelFlag) throws -> OpenFile {
    let folder = Folder.parent(of: path)
    try Folder.makeDurably(folder)
    while true {
      let isNew = access(path, F_OK) != 0
      let file = try OpenFile(path: path, flags: O_RDWR | O_CREAT | O_APPEND)
      try lock(file, flag)
      let status = try file.status()
      guard status.isRegular else { throw SystemError("open", number: EINVAL) }
      guard let named = try? FileStatus.of(path: path), named.inode == status.inode, named.device == status.device
      else { continue }
      if isNew { try Folder.sync(folder) }
      return file
    }
  }

  /// The lock goes with the descriptor. Taken by trying, so that a cancel ends the wait.
  private func lock(_ file: OpenFile, _ flag: CancelFlag) throws {
    while flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
      let error = SystemError.last("flock")
      guard error.number == EWOULDBLOCK || error.number == EINTR else { throw error }
      try flag.check()
      usleep(10_000)
    }
  }

  // MARK: - Reading

  /// The offset behind the last newline, found from the end.
  private func endOfLastLine(_ file: OpenFile, size: Int64) throws -> Int64 {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunk, alignment: 16)
    defer { buffer.deallocate() }
    var end = size
    while end > 0 {
      let start = max(0, end - Int64(Self.chunk))
      let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(end - start)])
      let count = try file.read(into: wanted, at: start)
      if let newline = wanted[..<count].lastIndex(of: UInt8(ascii: "\n")) { return start + Int64(newline) + 1 }
      end = start
    }
    return 0
  }

  private func contains(_ taskId: String, _ file: OpenFile, end: Int64, _ flag: CancelFlag) throws -> Bool {
    // The cheap look; a payload may hold the same text, so a parse has the last word.
    let needle = Array(JSONWriter.text(.string(taskId)).utf8)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunk, alignment: 16)
    defer { buffer.deallocate() }
    var line: [UInt8] = []
    var offset: Int64 = 0
    while offset < end {
      try flag.check()
      let count = try file.read(into: buffer, at: offset)
      guard count > 0 else { break }
      offset += Int64(count)
      var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      while let newline = Self.newline(in: rest) {
        line.append(contentsOf: rest[..<newline])
        if Self.isLine(line, of: taskId, needle) { return true }
        line.removeAll(keepingCapacity: true)
        rest = UnsafeRawBufferPointer(rebasing: rest[(newline + 1)...])
      }
      line.append(contentsOf: rest)
    }
    return false
  }

  private static func newline(in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let start = bytes.baseAddress, let found = memchr(start, 0x0A, bytes.count) else { return nil }
    return UnsafeRawPointer(found) - start
  }

  private static func isLine(_ line: [UInt8], of taskId: String, _ needle: [UInt8]) -> Bool {
    guard line.firstRange(of: needle) != nil else { return false }
    return (try? JSONParser.parse(line))?["taskId"]?.string == taskId
  }
}
