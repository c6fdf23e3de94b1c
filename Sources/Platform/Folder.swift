import Glibc

/// Folders that are still there after a power cut: a new entry lasts only once the folder that names it is synced.
public enum Folder {
  /// Makes `path` and what is missing above it.
  /// - Parameter mode: of new folders, before the umask.
  /// - Throws: `SystemError`.
  public static func makeDurably(_ path: String, mode: UInt32 = 0o755) throws(SystemError) {
    if try exists(path) { return }
    let parent = parent(of: path)
    if parent != path { try makeDurably(parent, mode: mode) }
    if try make(path, mode: mode) { try sync(parent) }
  }

  /// Several folders in one that is there, for one wait for the disk.
  /// - Throws: `SystemError`.
  public static func makeDurably(_ names: [String], in folder: String, mode: UInt32) throws(SystemError) {
    var isNew = false
    for name in names where try !exists("\(folder)/\(name)") {
      if try make("\(folder)/\(name)", mode: mode) { isNew = true }
    }
    if isNew { try sync(folder) }
  }

  private static func exists(_ path: String) throws(SystemError) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError("mkdir", number: ENOTDIR) }
    return true
  }

  /// - Returns: false where it is there already.
  private static func make(_ path: String, mode: UInt32) throws(SystemError) -> Bool {
    do {
      _ = try systemCall("mkdir") { mkdir(path, mode) }
      return true
    } catch  where error.number == EEXIST {
      return false
    }
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
