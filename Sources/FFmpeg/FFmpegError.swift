import CFFmpeg
import Glibc

/// What an FFmpeg function answered when it did not work.
public struct FFmpegError: Error, Sendable, Hashable, CustomStringConvertible {
  /// FFmpeg's own code: negative, `-errno` or a tag.
  public let code: Int32
  /// The step that failed, for people, such as "opening the input".
  public let operation: String

  public init(code: Int32, operation: String) {
    self.code = code
    self.operation = operation
  }

  /// The system's error number, where the code is one.
  public var errno: Int32? { (-4095 ... -1).contains(code) ? -code : nil }

  /// FFmpeg's sentence for the code.
  public var reason: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
      guard let base = buffer.baseAddress, av_strerror(code, base, buffer.count) >= 0 else { return "error \(code)" }
      return String(cString: base)
    }
  }

  public var description: String { "\(operation): \(reason)" }
}

/// Turns FFmpeg's negative answers into errors, at the place of the call.
@discardableResult
func check(_ code: Int32, _ operation: String) throws(FFmpegError) -> Int32 {
  guard code >= 0 else { throw FFmpegError(code: code, operation: operation) }
  return code
}

/// For the allocators, which answer with a null pointer.
func allocated<T>(_ pointer: T?, _ operation: String) throws(FFmpegError) -> T {
  guard let pointer else { throw FFmpegError(code: -ENOMEM, operation: operation) }
  return pointer
}

/// Settings of the whole process.
public enum FFmpegLibrary {
  /// Silences FFmpeg's own log and caps every single allocation. Call once, before anything else; both settings are
  /// global to the process.
  /// - Parameter maximumAllocation: bytes.
  public static func prepare(maximumAllocation: Int) {
    tc_quiet()
    av_max_alloc(maximumAllocation)
  }
}
