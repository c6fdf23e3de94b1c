import Glibc
import Platform
import TaskModel

/// What has been fetched so far of one resource: the bytes, and beside them which version of the source they are of. The
/// note is written before the first byte and removed before the bytes are dropped, so that bytes without a note, or after
/// a power cut, are never gone on with.
struct PartialFile: Sendable {
  struct Start: Sendable {
    let file: OpenFile
    /// Bytes that are there.
    let size: Int64
    /// Of which version: an entity tag or a date; nil where nothing is there.
    let tag: String?
  }

  private static let prefix = "part-"
  private static let noteEnding = ".tag"
  private let path: String
  private var notePath: String { path + Self.noteEnding }

  init(folder: String, task: SendTask.ID, index: Int) { path = "\(folder)/\(Self.prefix)\(task)-\(index)" }

  /// Whose part a file of this name is; nil where it is none.
  static func task(ofName name: String) -> SendTask.ID? {
    guard name.hasPrefix(prefix), let dash = name.lastIndex(of: "-") else { return nil }
    return String(name[name.index(name.startIndex, offsetBy: prefix.count)..<dash])
  }

  func open() throws(SystemError) -> Start {
    let file = try OpenFile(path: path, flags: O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
    let size = try file.status().size
    let tag = size > 0 ? readNote() : nil
    if tag == nil { try file.truncate(to: 0) }
    return Start(file: file, size: tag == nil ? 0 : size, tag: tag)
  }

  /// Begins anew with another version, or with one that has no name and so can't be gone on with.
  func restart(_ file: OpenFile, tag: String?) throws(SystemError) {
    unlink(notePath)
    try file.truncate(to: 0)
    _ = try systemCall("lseek") { lseek(file.descriptor, 0, SEEK_SET) }
    guard let tag else { return }
    let note = try OpenFile(path: notePath, flags: O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600)
    try write("\(Self.bootID)\n\(tag)", to: note)
  }

  /// The whole file, on the disk, under its final name.
  func finish(as target: String) throws(SystemError) {
    try OpenFile(path: path, flags: O_RDONLY | O_NOFOLLOW).sync()
    _ = try systemCall("rename") { rename(path, target) }
    unlink(notePath)
  }

  func remove() {
    unlink(notePath)
    unlink(path)
  }

  private func readNote() -> String? {
    guard let text = Self.read(notePath), let line = text.firstIndex(of: "\n") else { return nil }
    guard text[..<line] == Self.bootID else { return nil }
    return String(text[text.index(after: line)...])
  }

  /// What was written before a power cut may be there by its length only.
  private static let bootID = (read("/proc/sys/kernel/random/boot_id") ?? "").filter { $0 != "\n" }

  private static func read(_ path: String) -> String? {
    guard let file = try? OpenFile(path: path, flags: O_RDONLY | O_NOFOLLOW) else { return nil }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = bytes.withUnsafeMutableBytes { (try? file.read(into: $0, at: 0)) ?? 0 }
    return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
  }

  private func write(_ text: String, to file: OpenFile) throws(SystemError) {
    let bytes = Array(text.utf8)
    let result = bytes.withUnsafeBytes { buffer in Result { () throws(SystemError) in try file.write(buffer) } }
    try result.get()
  }
}
