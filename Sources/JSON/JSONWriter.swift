/// Values back into UTF-8 text: compact, on one line.
public enum JSONWriter {
  public static func bytes(_ value: JSONValue) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(256)
    append(value, to: &output)
    return output
  }

  public static func text(_ value: JSONValue) -> String { String(decoding: bytes(value), as: UTF8.self) }

  public static func append(_ value: JSONValue, to output: inout [UInt8]) {
    switch value {
    case .null: output.append(contentsOf: "null".utf8)
    case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
    case .number(let value): output.append(contentsOf: value.literal.utf8)
    case .string(let value): append(value, to: &output)
    case .array(let elements):
      output.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        append(element, to: &output)
      }
      output.append(UInt8(ascii: "]"))
    case .object(let object): append(object.members, to: &output)
    }
  }

  static func append(_ members: [(name: String, value: JSONValue)], to output: inout [UInt8]) {
    output.append(UInt8(ascii: "{"))
    for (index, member) in members.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      append(member.name, to: &output)
      output.append(UInt8(ascii: ":"))
      append(member.value, to: &output)
    }
    output.append(UInt8(ascii: "}"))
  }

  /// RFC 8785 section 3.2.2.2: the two-character escapes where they exist, \u00xx for other control characters, nothing
  /// else escaped.
  static func append(_ text: String, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { bytes in
      // Almost always all of it at once.
      var start = 0
      for index in bytes.indices where bytes[index].needsEscape {
        output.append(contentsOf: bytes[start..<index])
        appendEscape(of: bytes[index], to: &output)
        start = index + 1
      }
      output.append(contentsOf: bytes[start...])
    }
    output.append(UInt8(ascii: "\""))
  }

  private static func appendEscape(of byte: UInt8, to output: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""): output.append(contentsOf: #"\""#.utf8)
    case UInt8(ascii: "\\"): output.append(contentsOf: #"\\"#.utf8)
    case 0x08: output.append(contentsOf: #"\b"#.utf8)
    case 0x09: output.append(contentsOf: #"\t"#.utf8)
    case 0x0A: output.append(contentsOf: #"\n"#.utf8)
    case 0x0C: output.append(contentsOf: #"\f"#.utf8)
    case 0x0D: output.append(contentsOf: #"\r"#.utf8)
    default:
      output.append(contentsOf: (byte < 0x10 ? #"\u000"# : #"\u00"#).utf8)
      output.append(contentsOf: String(byte, radix: 16).utf8)
    }
  }
}

extension UInt8 {
  fileprivate var needsEscape: Bool { self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\") }
}
