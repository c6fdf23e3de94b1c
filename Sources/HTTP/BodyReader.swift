import Glibc
import Platform

/// Hands a request's body out piece by piece. Lives on the client's thread alone.
final class BodyReader {
  enum Piece {
    case bytes(Int)
    case failed
  }

  private let body: HTTPBody
  private var position: Int64 = 0
  /// The furthest byte handed out, also across rewinds.
  private(set) var handed: Int64 = 0
  private(set) var failure: HTTPError?

  init(_ body: HTTPBody) {
    self.body = body
    // The kernel reads further ahead and forgets sooner.
    if case .file(let file) = body {
      posix_fadvise(
        file.file.descriptor, off_t(file.offset), off_t(file.length), Int32(POSIX_FADV_SEQUENTIAL))
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Piece {
    let wanted = Int(min(Int64(buffer.count), body.count - position))
    guard wanted > 0 else { return .bytes(0) }
    let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
    switch body {
    case .none: return .bytes(0)
    case .data(let bytes):
      bytes.withUnsafeBytes {
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[Int(position)...].prefix(wanted)))
      }
      return advance(wanted)
    case .file(let file):
      do {
        let count = try file.file.read(into: target, at: file.offset + position)
        // libcurl would wait for the missing bytes until a timeout; say so at once.
        guard count > 0 else { return fail(HTTPError(.fileShrank, "the file ended before its known size")) }
        return advance(count)
      } catch {
        return fail(HTTPError(.fileUnreadable, "the file can't be read: \(error.reason)"))
      }
    }
  }

  private func advance(_ count: Int) -> Piece {
    position += Int64(count)
    handed = max(handed, position)
    return .bytes(count)
  }

  private func fail(_ error: HTTPError) -> Piece {
    failure = error
    return .failed
  }

  func rewind() { position = 0 }

  /// - Returns: false where `offset` lies outside of the body.
  func seek(to offset: Int64) -> Bool {
    guard (0...body.count).contains(offset) else { return false }
    position = offset
    return true
  }
}
