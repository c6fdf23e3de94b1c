import CPlatform
import Glibc

/// Copies content the cheapest way that the file systems allow: shared extents, then a copy within the kernel, then bytes
/// through memory.
public enum FileCopy {
  private static let chunk = 8 << 20

  /// From the start of `source` into `target`, which is empty and at its start.
  /// - Parameter progress: told the bytes copied so far, after each chunk of 8 MiB.
  /// - Returns: bytes copied.
  /// - Throws: `SystemError`, or `CancellationError` within one chunk of a cancel.
  public static func copy(
    _ source: OpenFile, to target: OpenFile, _ flag: CancelFlag, progress: (Int64) -> Void = { _ in }
  ) throws -> Int64 {
    try flag.check()
    if tc_clone_file(source.descriptor, target.descriptor) == 0 {
      let size = try target.status().size
      progress(size)
      return size
    }
    let copied = try copyInKernel(source, to: target, flag, progress)
    // Also where the kernel copied nothing: some special file systems say 0 for a file that has content.
    return try copied > 0 ? copied : copyThroughMemory(source, to: target, flag, progress)
  }

  /// - Returns: 0 where the kernel can't do it.
  private static func copyInKernel(
    _ source: OpenFile, to target: OpenFile, _ flag: CancelFlag, _ progress: (Int64) -> Void
  ) throws -> Int64 {
    _ = try systemCall("lseek") { lseek(source.descriptor, 0, SEEK_SET) }
    var copied: Int64 = 0
    while true {
      try flag.check()
      let count = tc_copy_file_range(source.descriptor, target.descriptor, chunk)
      if count < 0 {
        let error = SystemError.last("copy_file_range")
        if error.number == EINTR { continue }
        guard copied == 0, cannotCopyInKernel.contains(error.number) else { throw error }
      }
      guard count > 0 else { return copied }
      copied += Int64(count)
      progress(copied)
    }
  }

  private static let cannotCopyInKernel: Set<Int32> = [EXDEV, EOPNOTSUPP, ENOSYS, EINVAL, EPERM]

  private static func copyThroughMemory(
    _ source: OpenFile, to target: OpenFile, _ flag: CancelFlag, _ progress: (Int64) -> Void
  ) throws -> Int64 {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
    defer { buffer.deallocate() }
    var copied: Int64 = 0
    while true {
      try flag.check()
      let count = try source.read(into: buffer, at: copied)
      guard count > 0 else { return copied }
      try target.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      copied += Int64(count)
      if copied % Int64(chunk) == 0 { progress(copied) }
    }
  }
}
