import Archive
import Glibc
import MediaTypes

/// Whether deflating a file is worth the time: a film or an archive of yesterday's logs would only come out as it went
/// in, at a twentieth of the speed.
enum Density {
  /// Bytes that are looked at.
  static let sample = 1 << 20
  /// Files up to so many bytes cost nothing to deflate.
  static let small = 1 << 16
  /// What less than these hundredths would save does not count.
  static let share = 0.97

  /// - Parameter descriptor: of a regular file; its offset stays where it is.
  static func isDense(_ descriptor: Int32) -> Bool {
    var bytes = [UInt8](repeating: 0, count: sample)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count > small else { return false }
    return isDense(bytes[..<count])
  }

  static func isDense(_ bytes: ArraySlice<UInt8>) -> Bool {
    if MediaType.of(Array(bytes.prefix(MediaType.sniffLength))).isCompressed { return true }
    guard let share = bytes.withUnsafeBytes({ ZipWriter.deflatedShare(of: $0) }) else { return false }
    return share > Self.share
  }
}
