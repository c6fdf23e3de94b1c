public import HTTP
import JSON
public import TaskModel

/// A problem document (RFC 9457), as far as a send needs it: the service's own code and words.
public struct ProblemDocument: Sendable, Hashable {
  /// The extension member `code`, else the last path segment of `type`.
  public let code: FailureCode
  /// `detail`, else `title`.
  public let message: String?

  /// nil where the body is no object, or names no code.
  public init?(_ response: HTTPResponse) {
    guard let object = (try? JSONParser.parse(response.body))?.object else { return nil }
    let named = object["code"]?.string ?? object["type"]?.string.flatMap(Self.lastSegment)
    guard let named, Self.isCode(named) else { return nil }
    code = FailureCode(rawValue: named)
    message = (object["detail"]?.string ?? object["title"]?.string).map { String($0.prefix(500)) }
  }

  private static func lastSegment(of type: String) -> String? {
    // Section 4.2.1: about:blank says no more than the status.
    guard type != "about:blank" else { return nil }
    let path = type.prefix { $0 != "?" && $0 != "#" }
    return path.split(whereSeparator: { $0 == "/" || $0 == ":" }).last.map(String.init)
  }

  /// It is stored and shown: a short word, not whatever a server may say.
  private static func isCode(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        switch $0 {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
      }
  }
}
