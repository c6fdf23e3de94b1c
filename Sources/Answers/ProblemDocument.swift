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
    guard let code = named.flatMap(FailureCode.init(foreign:)) else { return nil }
    self.code = code
    message = (object["detail"]?.string ?? object["title"]?.string).map {
      String($0.prefix(Failure.longestForeignMessage))
    }
  }

  private static func lastSegment(of type: String) -> String? {
    // Section 4.2.1: about:blank says no more than the status.
    guard type != "about:blank" else { return nil }
    let path = type.prefix { $0 != "?" && $0 != "#" }
    return path.split(whereSeparator: { $0 == "/" || $0 == ":" }).last.map(String.init)
  }
}
