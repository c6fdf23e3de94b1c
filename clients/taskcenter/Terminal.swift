import Glibc

/// Text for people and programs.
enum Terminal {
  static func print(_ text: String) { write(text + "\n", to: 1) }
  static func complain(_ text: String) { write(text + "\n", to: 2) }

  static func write(_ text: String, to descriptor: Int32) {
    let isPlain = isatty(descriptor) == 1 && !hasUnicode
    var bytes = Array((isPlain ? PlainText.ascii(text) : text).utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      // A reader that has gone (`| head`) wants no more; a disk that is full is worth a status.
      if count <= 0 { exit(errno == EPIPE ? 0 : 74) }
      bytes = bytes.dropFirst(count)
    }
  }

  /// Whether bars make sense there.
  static func isLively(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 && variable("TERM") != "dumb" }

  /// Whether colours do, too (https://no-color.org).
  static func hasColour(_ descriptor: Int32) -> Bool { isLively(descriptor) && variable("NO_COLOR") == nil }

  /// Whether the person's locale says of another encoding than UTF-8 that it is the terminal's (POSIX, 8.2). Where none is set
  /// at all, as in most containers, terminals are of our time.
  private static var hasUnicode: Bool {
    guard let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(variable).first else { return true }
    let encoding = locale.lowercased()
    return encoding.contains("utf-8") || encoding.contains("utf8")
  }

  /// Nil for a variable that is empty, too.
  static func variable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }

  /// Columns and rows of the terminal at `descriptor`.
  static func size(_ descriptor: Int32) -> (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Gives descriptors 0 to 2 something to be: a pipe that took the place of a closed one would be mixed up with it.
  static func fillStandardDescriptors() {
    for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 { _ = open("/dev/null", O_RDWR) }
  }
}
