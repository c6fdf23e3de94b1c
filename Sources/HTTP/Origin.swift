/// Where a URL leads: scheme, host and port (RFC 6454), as far as headers and messages need it.
struct Origin: Equatable {
  let scheme: String
  let host: String
  let port: String

  /// Always with the port: one origin, one text.
  var text: String { "\(scheme)://\(host):\(port)" }

  /// nil where `url` has no scheme or no host.
  init?(_ url: String) {
    guard let separator = url.firstRange(of: "://") else { return nil }
    scheme = url[..<separator.lowerBound].lowercased()
    let rest = url[separator.upperBound...]
    var authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
    let defaultPort = scheme == "https" ? "443" : "80"
    // The colons of an IPv6 literal stand within brackets.
    let hostEnd = authority.lastIndex(of: "]").map { authority.index(after: $0) } ?? authority.startIndex
    if let colon = authority[hostEnd...].firstIndex(of: ":") {
      host = authority[..<colon].lowercased()
      let digits = authority[authority.index(after: colon)...]
      port = digits.isEmpty ? defaultPort : String(digits)
    } else {
      host = authority.lowercased()
      port = defaultPort
    }
    guard !host.isEmpty else { return nil }
  }
}
