import Archive
public import ExportProtocol
import Glibc
public import TaskModel

/// Puts files and folders into one zip, their bytes as they are.
public enum LogArchive {
  /// - Parameters:
  ///   - path: of the unfinished file to write.
  ///   - progress: told the done fraction by bytes, at most once per percent.
  /// - Throws: `Failure` that names the file; nothing is left of the output then.
  public static func write(
    _ entries: [ArchiveEntry], to path: String, progress: (Double) -> Void
  ) throws(Failure) -> ExportResult {
    let output = try OutputFile.create(path)
    var walk = FolderWalk(skipping: output.descriptor)
    for entry in entries { try walk.add(entry) }
    let total = walk.items.reduce(0) { $0 + $1.size }
    var done: Int64 = 0
    var percent: Int64 = 0
    let zip = try writing { () throws(ArchiveError) in try ZipWriter(descriptor: output.descriptor) }
    for item in walk.items {
      try add(item, to: zip) { count in
        done += Int64(count)
        // The last percent is the index.
        let reached = min(99, done * 100 / max(total, 1))
        guard reached > percent else { return }
        percent = reached
        progress(Double(reached) / 100)
      }
    }
    try writing { () throws(ArchiveError) in try zip.finish() }
    return ExportResult(mime: "application/zip", size: try output.complete(), rung: "zip")
  }

  /// What `write` would put in; files may come and go until then.
  /// - Throws: `Failure` that names the file.
  public static func plan(_ entries: [ArchiveEntry]) throws(Failure) -> PlannedExport {
    var walk = FolderWalk(skipping: -1)
    for entry in entries { try walk.add(entry) }
    let files = walk.items.count { !$0.isFolder }
    return PlannedExport(
      .zip, rung: "zip", estimatedBytes: walk.items.reduce(0) { $0 + $1.size },
      reason: "Packed into one zip of \(files) \(files == 1 ? "file" : "files"); text shrinks a lot in it.")
  }

  private static func add(_ item: WalkedItem, to zip: ZipWriter, wrote: (Int) -> Void) throws(Failure) {
    guard !item.isFolder else {
      return try writing { () throws(ArchiveError) in
        try zip.begin(item.name + "/", kind: .folder, modified: item.modified)
      }
    }
    // Without waiting, should a pipe have taken the file's place; a link only where the submitter named it.
    let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (item.isNamed ? 0 : O_NOFOLLOW)
    let descriptor = item.path.withCString { open($0, flags) }
    guard descriptor >= 0 else { throw FolderWalk.failure(item.name, errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FolderWalk.failure(item.name, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw changed(item.name) }
    // A log that grows meanwhile goes in as it was when it was opened.
    let size = Int64(status.st_size)
    try writing { () throws(ArchiveError) in
      try zip.begin(
        item.name, kind: .file(size: size, permissions: status.st_mode, stores: Density.isDense(descriptor)),
        modified: Int64(status.st_mtim.tv_sec))
    }
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    var rest = size
    while rest > 0 {
      let wanted = Int(min(rest, Int64(buffer.count)))
      let count = read(descriptor, &buffer, wanted)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FolderWalk.failure(item.name, errno) }
      guard count > 0 else { throw changed(item.name) }
      try writing { () throws(ArchiveError) in
        let result = buffer.withUnsafeBytes { bytes in
          Result { () throws(ArchiveError) in try zip.write(UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
        }
        try result.get()
      }
      rest -= Int64(count)
      wrote(count)
    }
  }

  private static func changed(_ name: String) -> Failure {
    Failure(.sourceChanged, "“\(name)” changed while it was read", remedy: .retry)
  }

  /// Errors of the archive are errors of its output: reading is done here.
  private static func writing<T>(_ body: () throws(ArchiveError) -> T) throws(Failure) -> T {
    do throws(ArchiveError) { return try body() } catch { throw .writing(error.errno > 0 ? error.errno : EIO) }
  }
}
