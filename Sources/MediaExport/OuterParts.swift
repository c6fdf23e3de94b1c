/// The outermost parts of a container that say how long they are: what FFmpeg takes for the end of a file may be a place
/// where the rest of it is missing.
enum OuterParts {
  /// Of a RIFF that does not know its own length, as it was written into a pipe; or rather long.
  private static let unknownLength: UInt32 = 0x7FFF_0000
  /// Nobody has more, and each costs a read.
  private static let mostParts = 100_000

  /// Whether the last part ends behind the end of the file: AVI and WAV (RIFF), of which a tenth may be missing, and MP4
  /// in fragments, whose header does not know what follows.
  /// - Parameters:
  ///   - size: of the file in bytes.
  ///   - neededShare: of a RIFF; what lacks less is taken for whole.
  ///   - read: gives the bytes at an offset, fewer at the end of the file.
  static func areCutOff(
    size: Int64, neededShare: Double, read: (_ offset: Int64, _ count: Int) -> [UInt8]
  ) -> Bool {
    let head = read(0, 12)
    guard head.count == 12 else { return false }
    if head.starts(with: "RIFF".utf8) { return isRIFFCutOff(size: size, neededShare, read) }
    return head[4...].starts(with: "ftyp".utf8) && isFragmentCutOff(size: size, read)
  }

  /// An AVI of more than a gigabyte is several RIFFs in a row.
  private static func isRIFFCutOff(size: Int64, _ neededShare: Double, _ read: (Int64, Int) -> [UInt8]) -> Bool {
    var offset: Int64 = 0
    for _ in 0..<mostParts {
      let head = read(offset, 8)
      guard head.count == 8, head.starts(with: "RIFF".utf8) else { return false }
      let length = head[4...].reversed().reduce(0) { $0 << 8 | UInt32($1) }
      guard length > 0, length < unknownLength else { return false }
      offset += 8 + Int64(length) + Int64(length & 1)
      if offset > size { return Double(size) < Double(offset) * neededShare }
    }
    return false
  }

  /// ISO/IEC 14496-12, 4.2. The film of a file without fragments is known by its index, which sees what is missing.
  private static func isFragmentCutOff(size: Int64, _ read: (Int64, Int) -> [UInt8]) -> Bool {
    var offset: Int64 = 0
    var hasFragments = false
    for _ in 0..<mostParts {
      let head = read(offset, 16)
      guard head.count >= 8 else { return hasFragments && !head.isEmpty }
      var length = Int64(number(head[..<4]))
      if length == 1, head.count == 16 { length = Int64(clamping: number(head[8...])) }
      if head[4..<8].elementsEqual("moof".utf8) { hasFragments = true }
      // 0 is "to the end"; less than a header is nonsense, which others have to judge.
      guard length >= 8 else { return false }
      let (end, isTooFar) = offset.addingReportingOverflow(length)
      if isTooFar || end > size { return hasFragments }
      offset = end
    }
    return false
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
