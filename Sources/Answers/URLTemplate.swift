/// RFC 3986 section 2: everything but unreserved characters becomes %XX.
public enum PercentEncoding {
  public static func encode(_ text: String, keepingSlashes: Bool = false) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var output: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        output.append(byte)
      case UInt8(ascii: "/") where keepingSlashes: output.append(byte)
      default: output += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: output, as: UTF8.self)
  }
}

/// A URL of the config with `{name}` places in it.
public enum URLTemplate {
  /// Each known place is filled with its percent-encoded value; unknown ones stay, and so does a brace inside of a value,
  /// which is encoded.
  public static func fill(_ template: String, _ values: [String: String]) -> String {
    substitute(template, values.mapValues { PercentEncoding.encode($0) })
  }

  /// The same with values that are what they should be already.
  public static func substitute(_ template: String, _ values: [String: String]) -> String {
    var output = ""
    var rest = Substring(template)
    while let open = rest.firstIndex(of: "{") {
      output += rest[..<open]
      rest = rest[open...]
      guard let close = rest.firstIndex(of: "}") else { break }
      let name = String(rest[rest.index(after: open)..<close])
      output += values[name] ?? String(rest[...close])
      rest = rest[rest.index(after: close)...]
    }
    return output + rest
  }
}
