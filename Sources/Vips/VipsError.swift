import CVips
import Glibc

/// Why libvips could not do something, in its own words.
public struct VipsError: Error, Sendable, Hashable, CustomStringConvertible {
  public let message: String

  public init(message: String) { self.message = message }

  public var description: String { message }

  /// libvips tells its system errors only by their text.
  public var isDiskFull: Bool { [ENOSPC, EDQUOT].contains { message.contains(String(cString: strerror($0))) } }

  /// Takes what libvips left in its error buffer, which is one for the whole process.
  static func take() -> VipsError {
    let text = String(cString: vips_error_buffer())
    vips_error_clear()
    return VipsError(message: text.split(separator: "\n").joined(separator: "; "))
  }
}

func check(_ result: Int32) throws(VipsError) {
  guard result == 0 else { throw VipsError.take() }
}

/// Settings of the whole process.
public enum VipsLibrary {
  /// Starts libvips with the loaders blocked that it calls unfit for untrusted files (SVG, PDF, ImageMagick, JPEG XL and
  /// so on). Call once, before anything else.
  /// - Parameter threads: that one picture may use.
  public static func prepare(threads: Int) throws(VipsError) {
    // The variable makes the start itself block them; the call holds should someone unset it.
    setenv("VIPS_BLOCK_UNTRUSTED", "1", 1)
    // Remarks on odd files would go to stderr; what matters comes as an error.
    setenv("VIPS_WARNING", "0", 1)
    // Where its modules would be, were they wanted: a third less time to start, and code of fewer strangers.
    setenv("VIPSHOME", "/nonexistent", 1)
    defer { unsetenv("VIPSHOME") }
    try check(vips_init("taskcenter"))
    HEIFModule.load()
    vips_block_untrusted_set(1)
    vips_concurrency_set(Int32(threads))
    // Nothing is ever done twice here, and a cache would hold pictures of past orders.
    vips_cache_set_max(0)
  }
}
