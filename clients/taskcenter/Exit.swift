import Glibc
import Platform

/// Exit statuses that scripts can trust; from 64 on those of sysexits.h.
enum Exit {
  static let ok: Int32 = 0
  /// A task ended as failed or canceled.
  static let failed: Int32 = 1
  static let usage: Int32 = 64
  static let badInput: Int32 = 66
  static let unavailable: Int32 = 69
  static let tryAgain: Int32 = 75
  static let interrupted: Int32 = 130
}

/// Ends the program with a sentence on stderr.
struct Stop: Error {
  let status: Int32
  let message: String
}

/// Text for people and programs.
enum Terminal {
  static func print(_ text: String) { write(text + "\n", to: 1) }
  static func complain(_ text: String) { write(text + "\n", to: 2) }

  static func write(_ text: String, to descriptor: Int32) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count <= 0 { exit(errno == EPIPE ? 0 : 74) }
      bytes = bytes.dropFirst(count)
    }
  }

  /// Whether bars and colours make sense there.
  static func isLively(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 && variable("TERM") != "dumb" }
  static var hasColour: Bool { isLively(1) && variable("NO_COLOR") == nil }

  static func variable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }

  /// Columns of the terminal at `descriptor`.
  static func width(_ descriptor: Int32) -> Int {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}
