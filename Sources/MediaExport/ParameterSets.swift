/// The sequence parameter sets of an H.264 stream as MP4 and Matroska keep it (ISO/IEC 14496-15, 5.3): size and coding of its
/// pictures. Beside those of the header, packets may bring others, from which on the film is another one. Pure.
struct ParameterSets: Equatable {
  private static let sequence: UInt8 = 7
  /// Bytes of the number before each NAL unit.
  private let lengthSize: Int
  private let known: Set<[UInt8]>

  /// - Parameter header: the stream's AVCDecoderConfigurationRecord.
  /// - Returns: nil where it is none.
  init?(header: [UInt8]) {
    guard header.count > 6, header[0] == 1 else { return nil }
    lengthSize = Int(header[4] & 3) + 1
    var sets: Set<[UInt8]> = []
    var position = 6
    for _ in 0..<Int(header[5] & 0x1F) {
      guard position + 2 <= header.count else { return nil }
      let end = position + 2 + (Int(header[position]) << 8 | Int(header[position + 1]))
      guard end <= header.count else { return nil }
      sets.insert(Array(header[(position + 2)..<end]))
      position = end
    }
    known = sets
  }

  /// - Parameter packet: of a key frame, as others bring none.
  /// - Returns: whether it brings one that the header does not have.
  func areChanged(by packet: UnsafeRawBufferPointer) -> Bool {
    var position = 0
    while position + lengthSize < packet.count {
      let length = packet[position..<position + lengthSize].reduce(0) { $0 << 8 | Int($1) }
      let start = position + lengthSize
      guard length > 0, length <= packet.count - start else { return false }
      if packet[start] & 0x1F == Self.sequence, !known.contains(Array(packet[start..<start + length])) { return true }
      position = start + length
    }
    return false
  }
}
