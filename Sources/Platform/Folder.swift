import Glibc

/// Folders that are still there after a power cut: a new entry lasts only once the folder that names it is synced.
public enum Folder {
  /// Makes `path` and what is missing above it.
  /// - Parameter mode: of new folders, before the umask.
  /// - Throws: `SystemError`.
  public static func makeDurably(_ path: String, mode: UInt32 = 0o755) throws(SystemError) {
    for changed in try make(path, mode: mode) { try sync(changed) }
  }

  /// The same without a wait for the disk.
  /// - Returns: the folders that got a new entry, to be synced before anything in it is promised; the uppermost first.
  /// - Throws: `SystemError`.
  public static func make(_ path: String, mode: UInt32 = 0o755) throws(SystemError) -> [String] {
    var status = stat()
    if stat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError("mkdir", number: ENOTDIR) }
      return []
    }
    let parent = parent(of: path)
    let above = parent == path ? [] : try make(parent, mode: mode)
    do {
      _ = try systemCall("mkdir") { mkdir(path, mode) }
    } catch  where error.number == EEXIST {
      return above
    }
    return above + [parent]
  }

  /// Returns when the folder's entries are on the disk.
  /// - Throws: `SystemError`.
  public static func sync(_ path: String) throws(SystemError) {
    try OpenFile(path: path, flags: O_RDONLY | O_DIRECTORY).sync()
  }

  /// Names in no order, without "." and "..".
  /// - Throws: `SystemError`.
  public static func entries(of path: String) throws(SystemError) -> [String] {
    guard let folder = opendir(path) else { throw SystemError.last("opendir") }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  /// The folder that names `path`: "/" for the root, "." for a bare name.
  public static func parent(of path: String) -> String {
    var parts = Substring(path)
    while parts.count > 1, parts.last == "/" { parts.removeLast() }
    guard let slash = parts.lastIndex(of: "/") else { return "." }
    var parent = parts[..<slash]
    while parent.count > 1, parent.last == "/" { parent.removeLast() }
    return parent.isEmpty ? "/" : String(parent)
  }
}
