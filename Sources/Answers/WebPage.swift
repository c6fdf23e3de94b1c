public import HTTP

/// The page of a hotel's network, or of a proxy, in place of the answer of a service: it says 200 and means nothing.
public enum WebPage {
  /// Whether the answer is a page for people, by its first bytes; what a server calls it is not asked.
  public static func isIn(_ response: HTTPResponse) -> Bool {
    let start = response.body.drop { $0 <= 0x20 || [0xEF, 0xBB, 0xBF].contains($0) }.prefix(16)
    let text = String(decoding: start, as: UTF8.self).lowercased()
    return text.hasPrefix("<!doctype html") || text.hasPrefix("<html")
  }
}
