import CFFmpeg
import Glibc

/// Lets FFmpeg read an open descriptor, so that no file name ever reaches it: a name with a colon would be a protocol.
/// Reads with `pread`, and so leaves the offset alone that other holders of the descriptor may share.
final class FileInput {
  private let descriptor: Int32
  private let size: Int64
  private var position: Int64 = 0
  /// The system's error number of a read that failed, as opposed to bytes that made no sense.
  private(set) var readError: Int32?
  private(set) var context: UnsafeMutablePointer<AVIOContext>?

  private static let bufferSize: Int32 = 65536

  /// - Parameter descriptor: of a regular file; stays the caller's, and open for as long as this lives.
  init(descriptor: Int32) throws(FFmpegError) {
    self.descriptor = descriptor
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FFmpegError(code: -errno, operation: "looking at the input") }
    size = Int64(status.st_size)
    let buffer = try allocated(av_malloc(Int(Self.bufferSize)), "opening the input")
    // The context is freed in deinit, so the unretained reference never outlives `self`.
    let opaque = Unmanaged.passUnretained(self).toOpaque()
    context = avio_alloc_context(
      buffer.assumingMemoryBound(to: UInt8.self), Self.bufferSize, 0, opaque,
      { opaque, bytes, count in
        guard let opaque, let bytes else { return -EINVAL }
        return Unmanaged<FileInput>.fromOpaque(opaque).takeUnretainedValue().read(into: bytes, count: Int(count))
      }, nil,
      { opaque, offset, whence in
        guard let opaque else { return -1 }
        return Unmanaged<FileInput>.fromOpaque(opaque).takeUnretainedValue().seek(to: offset, whence: whence)
      })
    guard context != nil else {
      av_free(buffer)
      throw FFmpegError(code: -ENOMEM, operation: "opening the input")
    }
  }

  deinit {
    guard let context else { return }
    // FFmpeg may have put another buffer in place of ours.
    av_free(context.pointee.buffer)
    avio_context_free(&self.context)
  }

  private func read(into bytes: UnsafeMutablePointer<UInt8>, count: Int) -> Int32 {
    while true {
      let result = pread(descriptor, bytes, count, off_t(position))
      if result > 0 {
        position += Int64(result)
        return Int32(result)
      }
      if result == 0 { return tc_error_eof }
      if errno != EINTR {
        readError = errno
        return -errno
      }
    }
  }

  private func seek(to offset: Int64, whence: Int32) -> Int64 {
    let target: Int64
    switch whence & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return size
    case SEEK_SET: target = offset
    case SEEK_CUR: target = position.addingReportingOverflow(offset).partialValue
    case SEEK_END: target = size.addingReportingOverflow(offset).partialValue
    default: return Int64(-EINVAL)
    }
    guard target >= 0 else { return Int64(-EINVAL) }
    position = target
    return target
  }
}
