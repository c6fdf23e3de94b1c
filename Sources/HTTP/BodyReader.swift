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
  /// Bytes handed out, those that went again too.
  private(set) var moved: Int64 = 0
  private(set) var failure: HTTPError?

  init(_ body: HTTPBody) {
    self.body = body
    // The kernel reads further ahead and forgets sooner.
    switch body {
    case .file(let file), .framed(_, let file, _):
      posix_fadvise(
        file.file.descriptor, off_t(file.offset), off_t(file.length), Int32(POSIX_FADV_SEQUENTIAL))
    case .none, .data: break
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Piece {
    let wanted = Int(min(Int64(buffer.count), body.count - position))
    guard wanted > 0 else { return .bytes(0) }
    let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
    switch body {
    case .none: return .bytes(0)
    case .data(let bytes): return copy(bytes, from: position, into: target)
    case .file(let file): return read(file, from: position, into: target)
    case .framed(let head, let file, let tail):
      let inFile = position - Int64(head.count)
      if inFile < 0 { return copy(head, from: position, into: target) }
      if inFile < file.length { return read(file, from: inFile, into: target) }
      return copy(tail, from: inFile - file.length, into: target)
    }
  }

  private func copy(_ bytes: [UInt8], from start: Int64, into target: UnsafeMutableRawBufferPointer) -> Piece {
    let count = min(target.count, bytes.count - Int(start))
    bytes.withUnsafeBytes {
      target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[Int(start)...].prefix(count)))
    }
    return advance(count)
  }

  private func read(_ file: FileBody, from start: Int64, into target: UnsafeMutableRawBufferPointer) -> Piece {
    do {
      let wanted = UnsafeMutableRawBufferPointer(
        rebasing: target.prefix(Int(min(Int64(target.count), file.length - start))))
      let count = try file.file.read(into: wanted, at: file.offset + start)
      // libcurl would wait for the missing bytes until a timeout; say so at once.
      guard count > 0 else { return fail(HTTPError(.fileShrank, "the file ended before its known size")) }
      return advance(count)
    } catch {
      return fail(HTTPError(.fileUnreadable, "the file can't be read: \(error.reason)"))
    }
  }

  private func advance(_ count: Int) -> Piece {
    position += Int64(count)
    moved += Int64(count)
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
