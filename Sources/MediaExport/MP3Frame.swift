/// The header of an MP3's frame (ISO/IEC 11172-3, 2.4.1.3, and 13818-3; version 2.5 is the usual extension). Pure.
enum MP3Frame {
  /// kbit/s; 0 is "free", which nobody has.
  private static let rates1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
  private static let rates2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
  private static let hertz = [44_100, 48_000, 32_000]

  /// - Parameter head: its first four bytes.
  /// - Returns: bytes of the whole frame; nil where it is none.
  static func size(_ head: [UInt8]) -> Int? {
    guard head.count >= 4, head[0] == 0xFF, head[1] & 0xE0 == 0xE0, head[1] & 0x06 == 0x02 else { return nil }
    let version = Int(head[1] >> 3 & 3)
    let rate = Int(head[2] >> 4)
    let frequency = Int(head[2] >> 2 & 3)
    guard version != 1, (1...14).contains(rate), frequency < 3 else { return nil }
    let isFirst = version == 3
    let divisor = isFirst ? 1 : version == 2 ? 2 : 4
    let bits = (isFirst ? rates1 : rates2)[rate] * 1000
    return (isFirst ? 144 : 72) * bits / (hertz[frequency] / divisor) + Int(head[2] >> 1 & 1)
  }
}
