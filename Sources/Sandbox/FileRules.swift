import CSandbox
import Glibc

/// Which files a process may still open by path: rules for Landlock (landlock(7)). Descriptors that are open already stay
/// as they are. It binds the calling thread and those that it starts from now on.
struct FileRules {
  /// The one folder to write in: make, fill and remove files, and read them; not list them. Nil for none.
  var writable: String?
  /// Folders to read in; nil where everything may be read.
  var readable: [String]?

  /// - Parameter version: of the kernel's interface, from 1.
  /// - Throws: `SandboxError`.
  func enter(version: Int32) throws(SandboxError) {
    let rights = Rights(version: version)
    let handled = readable == nil ? rights.all & ~(Rights.readFile | Rights.readFolder) : rights.all
    let ruleset = tc_landlock_create(handled, rights.network, rights.scopes)
    guard ruleset >= 0 else { throw SandboxError("landlock_create_ruleset", errno) }
    defer { close(ruleset) }
    if let writable { try allow(rights.work & handled, in: writable, ruleset) }
    for folder in readable ?? [] where access(folder, F_OK) == 0 {
      try allow(Rights.readFile | Rights.readFolder, in: folder, ruleset)
    }
    guard tc_landlock_enter(ruleset) == 0 else { throw SandboxError("landlock_restrict_self", errno) }
  }

  private func allow(_ rights: UInt64, in path: String, _ ruleset: Int32) throws(SandboxError) {
    let folder = open(path, tc_open_path | O_CLOEXEC | O_DIRECTORY)
    guard folder >= 0 else { throw SandboxError("open \(path)", errno) }
    defer { close(folder) }
    guard tc_landlock_allow(ruleset, rights, folder) == 0 else { throw SandboxError("landlock_add_rule", errno) }
  }

  /// The version of Landlock's interface; nil where the kernel has none, or a container hides it.
  static var kernelVersion: Int32? {
    let version = tc_landlock_version()
    return version > 0 ? version : nil
  }
}

/// What Landlock can tell apart, by the version of its interface.
private struct Rights {
  static let writeFile: UInt64 = 1 << 1
  static let readFile: UInt64 = 1 << 2
  static let readFolder: UInt64 = 1 << 3
  static let removeFile: UInt64 = 1 << 5
  static let makeFile: UInt64 = 1 << 8
  static let truncate: UInt64 = 1 << 14

  let version: Int32

  /// Thirteen to begin with; then links between folders, truncation, and requests to devices.
  var all: UInt64 {
    switch version {
    case ...1: (1 << 13) - 1
    case 2: (1 << 14) - 1
    case 3, 4: (1 << 15) - 1
    default: (1 << 16) - 1
    }
  }

  var work: UInt64 { Self.writeFile | Self.readFile | Self.removeFile | Self.makeFile | Self.truncate }
  /// TCP: bind and connect.
  var network: UInt64 { version >= 4 ? 0b11 : 0 }
  /// Abstract Unix sockets and signals of processes outside.
  var scopes: UInt64 { version >= 6 ? 0b11 : 0 }
}
