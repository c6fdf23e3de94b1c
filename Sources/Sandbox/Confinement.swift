import CSandbox
import Glibc

/// Why a sandbox that the kernel has could not be entered.
public struct SandboxError: Error, Sendable, Hashable, CustomStringConvertible {
  public let message: String

  init(_ call: String, _ number: Int32) { message = "\(call): \(String(cString: strerror(number)))" }

  public var description: String { message }
}

/// What is left to a process that works on strangers' bytes: the descriptors that it was given, and one folder to write
/// in. No network, no other program, no other process, no file by its path. There is no way back.
///
/// Two parts of the kernel do it, neither of which needs root: Landlock says which paths may be opened, and a filter of
/// system calls refuses everything that has no use here.
public struct Confinement: Sendable {
  /// Absolute; the only place where files may be made. Nil where nothing is to be written.
  public var folder: String?
  /// Whether files may be read by their paths, wherever they are: an archive names what goes into it.
  public var readsAnything: Bool

  public init(folder: String?, readsAnything: Bool = false) {
    self.folder = folder
    self.readsAnything = readsAnything
  }

  /// Libraries load parts of themselves when they first need them; nobody's own files lie there.
  private static let libraries = ["/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/local/lib"]

  /// Call it when the libraries are loaded, and before a second thread is started: Landlock binds the threads to come.
  /// - Returns: what this kernel lacks, in words; empty where all of it holds.
  /// - Throws: `SandboxError` where the kernel has it and refused; go no further then.
  public func enter() throws(SandboxError) -> [String] {
    var lacking: [String] = []
    guard tc_no_new_privileges() == 0 else { throw SandboxError("prctl", errno) }
    if let version = FileRules.kernelVersion {
      let threads = Self.threadCount
      if threads > 1 { lacking.append("\(threads - 1) threads were there before the rules for files") }
      try FileRules(writable: folder, readable: readsAnything ? nil : Self.libraries).enter(version: version)
    } else {
      lacking.append("this kernel has no Landlock: files are protected by their permissions only")
    }
    guard let filter = SystemCallFilter(process: getpid()), try filter.enter() else {
      lacking.append("no filter of system calls for this kernel and processor")
      return lacking
    }
    return lacking
  }

  private static var threadCount: Int {
    guard let folder = opendir("/proc/self/task") else { return 1 }
    defer { closedir(folder) }
    var count = 0
    while let entry = readdir(folder) { if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 } }
    return max(1, count)
  }
}
