import Glibc
import Platform

/// Where things lie.
enum Paths {
  /// By the current folder; symbolic links stay as they are.
  /// - Throws: `Stop` where there is no current folder any more.
  static func absolute(_ path: String) throws(Stop) -> String {
    if path.hasPrefix("/") { return path }
    guard let current = getcwd(nil, 0) else {
      throw Stop(status: Exit.usage, message: "the current folder is gone; give the whole path of \(path)")
    }
    defer { free(current) }
    return join(String(cString: current), path)
  }

  static func join(_ folder: String, _ path: String) -> String {
    var path = Substring(path)
    while path.hasPrefix("./") { path = path.dropFirst(2).drop { $0 == "/" } }
    return folder.hasSuffix("/") ? folder + path : "\(folder)/\(path)"
  }

  /// By the XDG Base Directory specification.
  static var defaultStore: String {
    if let state = Terminal.variable("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/taskcenter" }
    return (Terminal.variable("HOME") ?? "/") + "/.local/state/taskcenter"
  }

  /// What TASKCENTERD says, or beside this program, or on PATH.
  static var engineProgram: String {
    engineProgram(
      named: Terminal.variable("TASKCENTERD"), besides: SystemProcess.programFolder,
      searchPath: Terminal.variable("PATH") ?? "",
      isThere: { access($0, X_OK) == 0 })
  }

  static func engineProgram(
    named: String?, besides folder: String, searchPath: String, isThere: (String) -> Bool
  ) -> String {
    if let named { return named }
    let besides = folder + "/taskcenterd"
    let found = searchPath.split(separator: ":").map { "\($0)/taskcenterd" }
    return ([besides] + found).first(where: isThere) ?? besides
  }
}
