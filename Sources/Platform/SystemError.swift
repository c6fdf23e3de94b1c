import Glibc

/// A system call that failed: which one, and why.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
  public let call: String
  /// As in errno(3).
  public let number: Int32

  public init(_ call: String, number: Int32) {
    self.call = call
    self.number = number
  }

  /// Takes errno as the call has just left it.
  public static func last(_ call: String) -> SystemError { SystemError(call, number: errno) }

  public var isNotFound: Bool { number == ENOENT || number == ENOTDIR }
  /// No room, by the disk's size or by quota.
  public var isDiskFull: Bool { number == ENOSPC || number == EDQUOT }
  public var isForbidden: Bool { number == EACCES || number == EPERM || number == EROFS }

  public var reason: String { String(cString: strerror(number)) }
  public var description: String { "\(call): \(reason)" }
}

/// The result of a call that says -1 for an error; interrupted calls are made again.
/// - Throws: `SystemError`.
public func systemCall<Result: SignedInteger>(
  _ name: String, _ body: () -> Result
) throws(SystemError) -> Result {
  while true {
    let result = body()
    if result != -1 { return result }
    if errno != EINTR { throw SystemError.last(name) }
  }
}
