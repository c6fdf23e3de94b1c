public import HTTP
public import TaskModel

/// The page of a hotel's network, or of a proxy, in place of the answer of a service: it says 200 and means nothing.
public enum WebPage {
  /// nil where the answer is none.
  public static func failure(_ response: HTTPResponse, host: String) -> Failure? {
    guard isIn(response) else { return nil }
    return Failure(
      .badAnswer, "\(host) answered with a web page; does this network want a sign-in?", remedy: .retry,
      httpStatus: response.status)
  }

  /// Whether the answer is a page for people, by its first bytes; what a server calls it is not asked.
  private static func isIn(_ response: HTTPResponse) -> Bool {
    let start = response.body.drop { $0 <= 0x20 || [0xEF, 0xBB, 0xBF].contains($0) }.prefix(16)
    let text = String(decoding: start, as: UTF8.self).lowercased()
    return text.hasPrefix("<!doctype html") || text.hasPrefix("<html")
  }
}
