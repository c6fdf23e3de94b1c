/// Text from elsewhere (file names, a service's messages) made fit for a terminal: what steers a terminal is taken out,
/// and widths are counted in columns, where East Asian characters and emoji take two.
enum PlainText {
  /// One line without control characters and without marks that turn the direction of what follows.
  static func of(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x09, 0x0A, 0x0D: scalars.append(" ")
      case ..<0x20, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: scalars.append("\u{FFFD}")
      default: scalars.append(scalar)
      }
    }
    return String(scalars)
  }

  /// The signs that this program draws, for a terminal that knows ASCII only; names from elsewhere stay as they are.
  static func ascii(_ text: String) -> String {
    let signs: [(String, String)] = [
      ("█", "#"), ("░", "."), ("…", "~"), ("→", "->"), ("×", "x"), ("–", "-"), ("“", "\""), ("”", "\""),
    ]
    return signs.reduce(text) { $0.replacing($1.0, with: $1.1) }
  }

  static func columns(_ text: String) -> Int { text.reduce(0) { $0 + columns($1) } }

  static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - columns(text)))
  }

  /// At most `width` columns; an ellipsis stands for what was cut.
  static func clip(_ text: String, _ width: Int) -> String {
    guard columns(text) > width else { return text }
    var result = ""
    var used = 0
    for character in text {
      used += columns(character)
      if used > width - 1 { break }
      result.append(character)
    }
    return width > 0 ? result + "…" : ""
  }

  private static func columns(_ character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    if first.value < 0x300 { return 1 }
    if first.properties.generalCategory == .nonspacingMark || first.properties.generalCategory == .format { return 0 }
    return wide.contains { $0.contains(first.value) } || first.properties.isEmojiPresentation ? 2 : 1
  }

  /// Wide and fullwidth blocks of Unicode's EastAsianWidth.txt, coarsely.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
    0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF,
    0x20000...0x3FFFD,
  ]
}
