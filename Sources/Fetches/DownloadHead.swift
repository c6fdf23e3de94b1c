import HTTP
import TaskModel

/// What the head of a successful answer means for a file of which a part may be there already (RFC 9110 section 14).
/// Pure: a mixed file begins with a wrong decision here.
enum DownloadHead: Equatable {
  /// The rest of what is there.
  case append(total: Int64?)
  /// Everything, from its first byte.
  case beginAnew(total: Int64?, tag: String?)
  /// A part that does not fit what is there.
  case startOver
  case refuse(Failure)

  static func judge(_ head: HTTPResponse, have: Int64, tag: String?, maxBytes: Int64) -> DownloadHead {
    if let encoding = head.header("Content-Encoding"), encoding.lowercased() != "identity" {
      return .refuse(
        Failure(.sourceUnreadable, "the server sends the file in another encoding (\(encoding))", remedy: .giveUp))
    }
    switch head.status {
    case 206:
      guard let tag, have > 0, let range = ContentRange(head.header("Content-Range")), range.first == have else {
        return .startOver
      }
      // A server that does not know If-Range sends its part whatever there is.
      if let found = validator(head), found != tag { return .startOver }
      if let total = range.total, total > maxBytes { return .refuse(tooLarge(maxBytes)) }
      return .append(total: range.total)
    case 200:
      let total = head.int("Content-Length")
      if let total, total > maxBytes { return .refuse(tooLarge(maxBytes)) }
      return .beginAnew(total: total, tag: validator(head))
    default:
      return .refuse(
        Failure(
          .sourceUnreadable, "the server answered \(head.status) in place of the file", remedy: .giveUp,
          httpStatus: head.status))
    }
  }

  /// What names this version strongly enough to add bytes to it (RFC 9110 section 13.1.5): a strong entity tag, or a date of
  /// change that is not just now.
  static func validator(_ head: HTTPResponse) -> String? {
    if let tag = head.header("ETag") { return tag.hasPrefix("\"") ? tag : nil }
    guard let changed = head.header("Last-Modified"), let now = head.header("Date"), changed != now else { return nil }
    return changed
  }

  static func tooLarge(_ maxBytes: Int64) -> Failure {
    Failure(.tooLarge, "the file is larger than sources.maxBytes (\(maxBytes) bytes) allows", remedy: .needsUser)
  }
}

/// `bytes 5-9/10` or `bytes 5-9/*`.
struct ContentRange: Equatable {
  let first: Int64
  let total: Int64?

  init?(_ text: String?) {
    guard let text, text.lowercased().hasPrefix("bytes ") else { return nil }
    let parts = text.dropFirst(6).split(separator: "/")
    guard parts.count == 2, let first = Int64(parts[0].prefix { $0 != "-" }) else { return nil }
    self.first = first
    total = Int64(parts[1])
  }
}
