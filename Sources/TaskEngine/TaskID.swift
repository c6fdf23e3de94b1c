import TaskModel

/// UUID version 7 (RFC 9562 section 5.7): milliseconds first, so that ids sort by time.
enum TaskID {
  static func make(now: Int64) -> SendTask.ID {
    var generator = SystemRandomNumberGenerator()
    return make(now: now, random: (generator.next(), generator.next()))
  }

  static func make(now: Int64, random: (UInt64, UInt64)) -> SendTask.ID {
    let high = UInt64(now) << 16 | 0x7000 | random.0 & 0x0FFF
    let low = 0x8000_0000_0000_0000 | random.1 & 0x3FFF_FFFF_FFFF_FFFF
    let digits = hex(high) + hex(low)
    let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
    return groups.map { String(digits[$0]) }.joined(separator: "-")
  }

  private static func hex(_ value: UInt64) -> [Character] {
    let digits = Array(String(value, radix: 16))
    return Array(repeating: "0", count: 16 - digits.count) + digits
  }
}
