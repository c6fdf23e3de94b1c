/// The shape of a URL that a source may have; pure. Nothing is asked of the network at submit.
enum SourceURL {
  /// What is wrong with it, as a sentence without its query; nil where nothing is.
  static func problem(with url: String) -> String? {
    guard url.utf8.count <= 8_192 else { return "must not be longer than 8192 bytes" }
    guard let scheme = url.firstRange(of: "://"), ["http", "https"].contains(url[..<scheme.lowerBound].lowercased())
    else { return "must begin with http:// or https://" }
    let rest = url[scheme.upperBound...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard !authority.contains("@") else { return "must not hold a user name or password" }
    guard !authority.isEmpty, authority.first != ":" else { return "must name a host" }
    guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      return "must be encoded: no spaces, control characters or letters beyond ASCII"
    }
    return nil
  }

  /// What a person would call the file: the last segment of the path, decoded.
  static func name(of url: String) -> String {
    guard let scheme = url.firstRange(of: "://") else { return "" }
    let rest = url[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
    let segments = rest.split(separator: "/")
    guard segments.count > 1, let last = segments.last else { return "" }
    return decoded(last)
  }

  private static func decoded(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let value = hexValue(rest.prefix(2)) {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func hexValue(_ digits: ArraySlice<UInt8>) -> UInt8? {
    guard digits.count == 2 else { return nil }
    return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}
