import ExportProtocol
import Glibc
import TaskModel
import Vips

/// A source that can go out as it is, without its metadata.
struct CleanJPEG {
  /// The whole file, cleaned.
  let bytes: [UInt8]

  /// What is larger has to be encoded: nothing is gained from reading it all into memory.
  private static let sizeLimit: Int64 = 16 << 20

  /// - Returns: nil where it is no JPEG, or one that has to be encoded.
  /// - Throws: `Failure` where it can't be read.
  init?(_ input: MediaInput, _ header: ImageHeader) throws(Failure) {
    let size = try input.size()
    guard header.format == .jpeg, header.orientation <= 1, size <= Self.sizeLimit else { return nil }
    let source = try input.read(count: Int(size))
    guard let cleaned = try? JPEGCleaner.clean(source) else { return nil }
    bytes = cleaned
  }

  /// - Returns: false where a decoder complains about it, which the strict look at its parts could not see.
  /// - Throws: `Failure`.
  func write(to output: OutputFile) throws(Failure) -> Bool {
    try output.rewind()
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(output.descriptor, $0.baseAddress, $0.count) }
      guard count >= 0 else {
        if errno == EINTR { continue }
        throw .writing(errno)
      }
      rest = rest.dropFirst(count)
    }
    do { try Image.verify(descriptor: output.descriptor) } catch { return false }
    return true
  }
}

extension MediaInput {
  /// The first bytes; fewer where the file became shorter meanwhile.
  /// - Throws: `Failure`.
  fileprivate func read(count: Int) throws(Failure) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let result = bytes.withUnsafeMutableBytes { buffer in
        pread(descriptor, buffer.baseAddress?.advanced(by: filled), buffer.count - filled, off_t(filled))
      }
      guard result >= 0 else {
        if errno == EINTR { continue }
        throw MediaFailure.unreadable(name, errno)
      }
      if result == 0 { break }
      filled += result
    }
    return Array(bytes.prefix(filled))
  }
}
