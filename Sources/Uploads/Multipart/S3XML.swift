/// The few elements that a client needs of S3's answers. Not an XML parser: these documents have no attributes that
/// matter, no comments and no CDATA, and what is read from them is checked again for its meaning.
enum S3XML {
  /// Text of the first element of this name.
  static func text(_ name: String, in document: Substring) -> String? {
    elements(name, in: document).first.map(unescape)
  }

  /// Contents of all elements of this name, in order.
  static func elements(_ name: String, in document: Substring) -> [Substring] {
    var found: [Substring] = []
    var rest = document
    while let open = rest.firstRange(of: "<\(name)>") {
      rest = rest[open.upperBound...]
      guard let close = rest.firstRange(of: "</\(name)>") else { break }
      found.append(rest[..<close.lowerBound])
      rest = rest[close.upperBound...]
    }
    return found
  }

  /// Whether the document's root is this element, whatever its namespace.
  static func hasRoot(_ name: String, _ document: Substring) -> Bool {
    document.contains("<\(name)>") || document.contains("<\(name) ")
  }

  static func document(_ body: [UInt8]) -> Substring { Substring(String(decoding: body, as: UTF8.self)) }

  static func escape(_ text: String) -> String {
    text.reduce(into: "") { output, character in
      switch character {
      case "&": output += "&amp;"
      case "<": output += "&lt;"
      case ">": output += "&gt;"
      case "\"": output += "&quot;"
      default: output.append(character)
      }
    }
  }

  private static let entities = [
    "&quot;": "\"", "&#34;": "\"", "&#x22;": "\"", "&lt;": "<", "&gt;": ">", "&apos;": "'",
  ]

  static func unescape(_ text: Substring) -> String {
    var result = String(text)
    guard result.contains("&") else { return result }
    for (entity, character) in entities { result.replace(entity, with: character) }
    result.replace("&amp;", with: "&")
    return result
  }
}
