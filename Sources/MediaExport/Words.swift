/// Figures as a person says them.
enum Words {
  static func size(_ bytes: Int64) -> String {
    switch bytes {
    case ..<1_000: "\(bytes) bytes"
    case ..<1_000_000: "\(bytes / 1_000) kB"
    default: "\(tenths(Double(bytes) / 1_000_000)) MB"
    }
  }

  static func span(_ seconds: Double) -> String {
    let whole = Int(max(0, min(seconds, 1e9)).rounded())
    switch whole {
    case ..<120: return "\(whole) s"
    case ..<7_200: return "\(whole / 60) min"
    default: return "\(whole / 3_600) h \(whole % 3_600 / 60) min"
    }
  }

  /// Bits per second.
  static func rate(_ bits: Int64) -> String {
    bits < 1_000_000 ? "\(bits / 1_000) kbit/s" : "\(tenths(Double(bits) / 1_000_000)) Mbit/s"
  }

  private static func tenths(_ value: Double) -> String {
    let tenths = Int64((value * 10).rounded(.down))
    return "\(tenths / 10).\(tenths % 10)"
  }
}
