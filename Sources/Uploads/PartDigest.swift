import Digest
import Dispatch
import Platform
import TaskModel

/// MD5 of a range of a file, off the cooperative pool. A part is read once more for it, from the page cache as a rule,
/// because its MD5 has to stand in front of it.
enum PartDigest {
  private static let queue = DispatchQueue(label: "taskcenter.parts", attributes: .concurrent)
  private static let chunkSize = 256 << 10

  /// - Returns: 16 bytes.
  /// - Throws: `Failure` where the file ends early, or `CancellationError`.
  static func md5(of file: OpenFile, _ range: Range<Int64>) async throws -> [UInt8] {
    try await digest(.md5, of: file, range)
  }

  /// - Throws: `Failure` where the file ends early, or `CancellationError`.
  static func digest(_ algorithm: DigestAlgorithm, of file: OpenFile, _ range: Range<Int64>) async throws -> [UInt8] {
    do {
      return try await Blocking.run(on: queue) { flag in
        var digest = try DigestStream(algorithm)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: chunkSize, alignment: 64)
        defer { buffer.deallocate() }
        var position = range.lowerBound
        while position < range.upperBound {
          try flag.check()
          let wanted = Int(min(Int64(chunkSize), range.upperBound - position))
          let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: position)
          guard count > 0 else { throw UploadFile.changed }
          digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
          position += Int64(count)
        }
        return digest.finish()
      }
    } catch let error as SystemError {
      throw Failure(.integrityMismatch, "the exported file can't be read: \(error.reason)", remedy: .restart)
    }
  }
}
