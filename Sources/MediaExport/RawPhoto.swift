/// A camera's raw photo is a TIFF (DNG, NEF, ARW, CR2) whose first picture is a small preview: whoever opens it as any other
/// TIFF sends a stamp in place of the photo.
enum RawPhoto {
  /// Tags (TIFF 6.0; DNG 1.7).
  private static let subfileType = 254
  private static let dngVersion = 50706
  private static let entrySize = 12
  /// Of tag 254: a smaller version of another picture of the file.
  private static let isReduced = 1

  /// - Parameter read: gives the bytes at an offset, fewer at the end of the file.
  static func isOne(read: (_ offset: Int64, _ count: Int) -> [UInt8]) -> Bool {
    let head = read(0, 10)
    guard head.count == 10 else { return false }
    let isLittle = head.starts(with: "II*\0".utf8)
    guard isLittle || head.starts(with: "MM\0*".utf8) else { return false }
    if head[8...].elementsEqual("CR".utf8) { return true }
    func number(_ bytes: ArraySlice<UInt8>) -> Int {
      (isLittle ? bytes.reversed() : Array(bytes)).reduce(0) { $0 << 8 | Int($1) }
    }
    let directory = Int64(number(head[4..<8]))
    let count = number(read(directory, 2)[...])
    let entries = read(directory + 2, count * entrySize)
    return stride(from: 0, through: entries.count - entrySize, by: entrySize).contains { start in
      let tag = number(entries[start..<start + 2])
      // Of type LONG.
      return tag == dngVersion || tag == subfileType && number(entries[start + 8..<start + 12]) & isReduced != 0
    }
  }
}
