import CPlatform
import Glibc

/// This process.
public enum SystemProcess {
  public static let id = Int(getpid())

  /// Processors that it may run on, 1 or more (sched_getaffinity(2)).
  public static var usableCores: Int {
    let count = Int(tc_usable_cores())
    return count > 0 ? count : max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  }

  /// What its command line says after the program's name.
  ///
  /// Swift's `CommandLine` finds the words of a process by looking backwards from its environment, and finds none where a
  /// preloaded library (libfaketime, for one) has moved the environment by setting a variable. Linux knows them too
  /// (proc(5)).
  public static var arguments: [String] {
    let words = CommandLine.arguments
    return Array((words.isEmpty ? wordsOfSystem : words).dropFirst())
  }

  private static var wordsOfSystem: [String] {
    var bytes: [UInt8] = []
    guard let file = try? OpenFile(path: "/proc/self/cmdline", flags: O_RDONLY) else { return [] }
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while let count = try? chunk.withUnsafeMutableBytes({ try file.read(into: $0, at: Int64(bytes.count)) }), count > 0
    {
      bytes += chunk[..<count]
    }
    // Every word ends with a zero, the last one too.
    return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// The folder of its program, where those that belong to it lie too.
  public static var programFolder: String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    return Folder.parent(
      of: String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }
}
