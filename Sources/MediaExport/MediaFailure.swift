import ExportProtocol
import FFmpeg
import Glibc
import TaskModel
import Vips

/// The failures of an export, by what a person can do about them. `name` is what that person calls the file.
enum MediaFailure {
  static func unsupported(_ name: String, _ what: String) -> Failure {
    Failure(.unsupported, "“\(name)” \(what)", remedy: .needsUser)
  }
  static func damaged(_ name: String, _ what: String = "is damaged and can't be read") -> Failure {
    Failure(.damaged, "“\(name)” \(what)", remedy: .needsUser)
  }
  static func cutOff(_ name: String) -> Failure { damaged(name, "ends too early; a part of it is missing") }
  static func encrypted(_ name: String) -> Failure { unsupported(name, "is protected against copying") }
  static func noVideo(_ name: String) -> Failure {
    Failure(.noVideo, "“\(name)” holds no video", remedy: .needsUser)
  }
  static func tooManyPixels(_ name: String, _ size: PixelSize) -> Failure {
    Failure(.tooManyPixels, "“\(name)” is \(size.width) × \(size.height) pixels, which is too much", remedy: .needsUser)
  }
  /// The picture was fine, so it is the encoder: missing, or asked for too much.
  static func noHEIC(_ name: String, _ error: VipsError) -> Failure {
    let reason = Image.canWriteHEIC ? "\(error)" : "libvips has no HEIF here"
    return Failure(.unsupported, "“\(name)” can't become a HEIC picture: \(reason)", remedy: .needsUser)
  }
  static func tooLarge(_ name: String, limit: Int64) -> Failure {
    Failure(.tooLarge, "“\(name)” can't be made smaller than \(Words.size(limit))", remedy: .needsUser)
  }
  static func tooLong(_ name: String, seconds: Double, limit: Int64) -> Failure {
    Failure(
      .tooLarge, "“\(name)” lasts \(Words.span(seconds)), which is too long to fit into \(Words.size(limit))",
      remedy: .needsUser)
  }
  /// Where the system itself refused; nil where it is about the content.
  static func system(_ number: Int32, _ name: String) -> Failure? {
    switch number {
    case ENOSPC, EDQUOT: Failure.writing(number)
    case ENOMEM: Failure(.unsupported, "“\(name)” needs more memory than an export may use", remedy: .needsUser)
    default: nil
    }
  }

  static func unreadable(_ name: String, _ number: Int32) -> Failure {
    Failure(.sourceUnreadable, "“\(name)” can't be read: \(String(cString: strerror(number)))", remedy: .needsUser)
  }

  /// What FFmpeg said while a file was decoded, encoded and written.
  static func of(_ error: FFmpegError, _ name: String) -> Failure {
    if let number = error.errno, let failure = system(number, name) { return failure }
    let isOutput = error.operation == Muxer.writing || error.operation == Muxer.creating
    guard isOutput, !error.isAboutContent, let number = error.errno else { return damaged(name) }
    return .writing(number)
  }

  static func of(_ error: VipsError, _ name: String) -> Failure {
    error.isDiskFull ? .writing(ENOSPC) : damaged(name)
  }
}

extension FFmpegError {
  /// Whether bytes made no sense, as opposed to a system that could not do something. A bare -1, which reads as EPERM, is how
  /// older parts of FFmpeg say so, such as the one that puts AAC into an MP4.
  var isAboutContent: Bool { [nil, EINVAL, EPERM].contains(errno) }
}
