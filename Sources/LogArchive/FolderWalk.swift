import ExportProtocol
import Glibc
import TaskModel

/// A path by its bytes: a file name need not be UTF-8.
struct FilePath {
  private let bytes: [UInt8]

  init(_ path: String) { bytes = Array(path.utf8) }
  private init(bytes: [UInt8]) { self.bytes = bytes }

  func appending(_ component: [UInt8]) -> FilePath { FilePath(bytes: bytes + [UInt8(ascii: "/")] + component) }

  func withCString<R>(_ body: (UnsafePointer<CChar>) -> R) -> R {
    (bytes + [0]).withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: CChar.self) { buffer in
        // The array holds at least the final 0, so there is a base address.
        buffer.baseAddress.map(body) ?? "".withCString(body)
      }
    }
  }
}

/// One entry of the archive to be.
struct WalkedItem {
  var path: FilePath
  /// Relative, with "/"; unique within the archive.
  var name: String
  var isFolder: Bool
  /// Bytes, as found; seconds since 1970.
  var size: Int64
  var modified: Int64
  /// Whether the submitter named it, and so may have named a link.
  var isNamed: Bool
}

/// Lists what an archive will hold: folders in the order of their names' bytes, links and devices left out.
struct FolderWalk {
  private(set) var items: [WalkedItem] = []
  private var names: Set<String> = []
  /// The output itself, should it lie in a folder that is archived.
  private let skipped: (device: dev_t, inode: ino_t)?

  private static let deepest = 128

  init(skipping descriptor: Int32) {
    var status = stat()
    skipped = fstat(descriptor, &status) == 0 ? (status.st_dev, status.st_ino) : nil
  }

  /// - Throws: `Failure` that names the file.
  mutating func add(_ entry: ArchiveEntry) throws(Failure) {
    var status = stat()
    guard stat(entry.path, &status) == 0 else { throw Self.failure(entry.name, errno) }
    let type = status.st_mode & S_IFMT
    guard type == S_IFREG || type == S_IFDIR else {
      throw Failure(.sourceNotRegular, "“\(entry.name)” is neither a file nor a folder", remedy: .needsUser)
    }
    try add(FilePath(entry.path), name: unique(Self.safe(entry.name)), status, isNamed: true, depth: 0)
  }

  private mutating func add(
    _ path: FilePath, name: String, _ status: stat, isNamed: Bool, depth: Int
  ) throws(Failure) {
    if let skipped, skipped == (status.st_dev, status.st_ino) { return }
    let isFolder = status.st_mode & S_IFMT == S_IFDIR
    items.append(
      WalkedItem(
        path: path, name: name, isFolder: isFolder, size: isFolder ? 0 : Int64(status.st_size),
        modified: Int64(status.st_mtim.tv_sec), isNamed: isNamed))
    if isFolder { try addContents(of: path, name: name, depth: depth + 1) }
  }

  private mutating func addContents(of folder: FilePath, name: String, depth: Int) throws(Failure) {
    guard depth <= Self.deepest else {
      throw Failure(.unsupported, "“\(name)” is nested too deep for an archive", remedy: .needsUser)
    }
    for component in try Self.contents(of: folder, name: name) {
      let path = folder.appending(component)
      var status = stat()
      let shown = name + "/" + String(decoding: component, as: UTF8.self)
      // Who deletes old logs meanwhile does no harm: what is gone before it was looked at was never there.
      guard path.withCString({ lstat($0, &status) }) == 0 else {
        if errno == ENOENT { continue }
        throw Self.failure(shown, errno)
      }
      let type = status.st_mode & S_IFMT
      guard type == S_IFREG || type == S_IFDIR else { continue }
      try add(path, name: unique(shown), status, isNamed: false, depth: depth)
    }
  }

  /// Sorted, so that the same folder always gives the same archive.
  private static func contents(of folder: FilePath, name: String) throws(Failure) -> [[UInt8]] {
    guard let stream = folder.withCString({ opendir($0) }) else { throw failure(name, errno) }
    defer { closedir(stream) }
    var found: [[UInt8]] = []
    errno = 0
    while let entry = readdir(stream) {
      let component = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if component != Array(".".utf8), component != Array("..".utf8) { found.append(component) }
      errno = 0
    }
    guard errno == 0 else { throw failure(name, errno) }
    return found.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Relative and without "..", as an archive must not write outside of the folder where it is unpacked.
  private static func safe(_ name: String) -> String {
    let parts = name.split(separator: "/").filter { $0 != "." && $0 != ".." }
    return parts.isEmpty ? "file" : parts.joined(separator: "/")
  }

  /// "app.log", then "app (2).log".
  private mutating func unique(_ name: String) -> String {
    var candidate = name
    var number = 2
    while !names.insert(candidate).inserted {
      let folderEnd = name.lastIndex(of: "/").map { name.index(after: $0) } ?? name.startIndex
      let dot = name[folderEnd...].lastIndex(of: ".").flatMap { $0 == folderEnd ? nil : $0 } ?? name.endIndex
      candidate = "\(name[..<dot]) (\(number))\(name[dot...])"
      number += 1
    }
    return candidate
  }

  /// What a system error at a file that was to be read means.
  static func failure(_ name: String, _ number: Int32) -> Failure {
    switch number {
    case ENOENT, ENOTDIR: Failure(.sourceMissing, "“\(name)” is not there any more", remedy: .needsUser)
    case EACCES, EPERM: Failure(.sourceUnreadable, "“\(name)” may not be read", remedy: .needsUser)
    default:
      Failure(
        .sourceUnreadable, "“\(name)” can't be read: \(String(cString: strerror(number)))", remedy: .needsUser)
    }
  }
}
