import Glibc
import Platform

/// Where things lie.
enum Paths {
  static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    guard let current = getcwd(nil, 0) else { return path }
    defer { free(current) }
    let folder = String(cString: current)
    return folder == "/" ? "/" + path : folder + "/" + path
  }

  /// By the XDG Base Directory specification.
  static var defaultStore: String {
    if let state = Terminal.variable("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/taskcenter" }
    return (Terminal.variable("HOME") ?? "/") + "/.local/state/taskcenter"
  }

  /// Beside this program, or wherever TASKCENTERD says.
  static var engineProgram: String {
    if let path = Terminal.variable("TASKCENTERD") { return path }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    let own = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return Folder.parent(of: own) + "/taskcenterd"
  }
}
