import Glibc

/// This process.
public enum SystemProcess {
  public static let id = Int(getpid())

  /// The folder of its program, where those that belong to it lie too.
  public static var programFolder: String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    return Folder.parent(
      of: String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }
}
