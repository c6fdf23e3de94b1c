import Digest
import HTTP
import TaskModel

/// `Upload-Metadata` (tus 1.0.0, creation): pairs of a key and a value in base 64.
enum TusMetadata {
  static func isKey(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ",") }
  }

  /// Some servers refuse a HEAD later unless both names were said.
  static func text(_ given: [HTTPHeader], name: String, mime: String) -> String {
    var pairs = given
    for (key, value) in [("filename", name), ("filetype", mime)] where !pairs.contains(where: { $0.name == key }) {
      pairs.append(HTTPHeader(key, value))
    }
    return pairs.map { $0.value.isEmpty ? $0.name : "\($0.name) \(Base64.text(Array($0.value.utf8)))" }
      .joined(separator: ",")
  }
}

/// `Location`, which may be relative (RFC 9110 section 10.2.2).
enum TusLocation {
  /// - Returns: nil for what leads to no web server, or down from https to http.
  static func resolve(_ location: String, against base: String) -> String? {
    guard let scheme = base.firstRange(of: "://") else { return nil }
    let authorityEnd = base[scheme.upperBound...].firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? base.endIndex
    let origin = base[..<authorityEnd]
    let path = base[authorityEnd...].prefix { $0 != "?" && $0 != "#" }
    let url: String
    if let found = location.firstRange(of: "://"), !location[..<found.lowerBound].contains("/") {
      url = location
    } else if location.hasPrefix("//") {
      url = "\(base[..<scheme.lowerBound]):\(location)"
    } else if location.hasPrefix("/") {
      url = origin + location
    } else {
      let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
      url = "\(origin)\(folder)\(location)"
    }
    let isPlain = url.lowercased().hasPrefix("http://")
    guard isPlain || url.lowercased().hasPrefix("https://"), !location.isEmpty else { return nil }
    return isPlain && base.lowercased().hasPrefix("https://") ? nil : url
  }
}
