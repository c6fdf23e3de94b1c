import FFmpeg
import Glibc
import MediaTypes
import TaskModel

/// An open source, as an order brings it.
public struct MediaInput: Sendable {
  /// Of a regular file; stays the caller's.
  public let descriptor: Int32
  /// What a person calls it.
  public let name: String

  public init(descriptor: Int32, name: String) {
    self.descriptor = descriptor
    self.name = name
  }

  /// Bytes.
  func size() throws(Failure) -> Int64 {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw MediaFailure.unreadable(name, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(.sourceNotRegular, "“\(name)” is not a regular file", remedy: .needsUser)
    }
    return Int64(status.st_size)
  }

  /// What the first bytes promise. Only to tell "broken" from "something else" and a picture from a film: whether it is
  /// true, the decoder says.
  var type: MediaType {
    MediaType.of(bytes(at: 0, count: MediaType.sniffLength))
  }

  /// - Returns: fewer at the end of the file, and none where it can't be read: somebody else will find that out.
  func bytes(at offset: Int64, count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let found = pread(descriptor, &bytes, count, off_t(offset))
    return Array(bytes.prefix(max(0, found)))
  }

  /// Whether it is a HEIF or AVIF of pictures in a track, like those of a film (ISO/IEC 23008-12, section 7). One of them may
  /// stand for it, as a picture of its own beside the track.
  var isPictureSequence: Bool {
    let brand = String(decoding: bytes(at: 4, count: 8), as: UTF8.self)
    return ["ftypmsf1", "ftyphevc", "ftyphevx", "ftypavis"].contains(brand)
  }

  /// Whether its outermost parts say that more of it should be there.
  var isCutOff: Bool {
    guard let size = try? size() else { return false }
    return OuterParts.areCutOff(size: size, neededShare: MediaLimits.neededShare, read: bytes)
  }

  /// - Throws: `Failure`.
  func demuxer() throws(Failure) -> Demuxer {
    guard try size() > 0 else { throw MediaFailure.damaged(name, "is empty") }
    do throws(FFmpegError) {
      return try Demuxer(descriptor: descriptor, limits: MediaLimits.demuxer)
    } catch {
      if let number = error.errno, let failure = MediaFailure.system(number, name) { throw failure }
      // A film that begins as one and can't be opened is broken; the rest is something else.
      switch type.family {
      case .video, .audio: throw MediaFailure.damaged(name)
      case .image, .other: throw MediaFailure.unsupported(name, "is in no format that can be sent here")
      }
    }
  }
}
