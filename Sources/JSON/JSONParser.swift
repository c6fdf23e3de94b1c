/// Why a text is not JSON, and at which byte.
public struct JSONSyntaxError: Error, Sendable, Equatable, CustomStringConvertible {
  public let message: String
  /// Offset in bytes from the start of the text.
  public let offset: Int
  public var description: String { "\(message) at byte \(offset)" }
}

/// A strict RFC 8259 parser over UTF-8 bytes. It is our own because the two parsers of Foundation lose the digits of a
/// number (an id must go back as it came), know no depth limit, and accept what they should refuse.
///
/// Refused: invalid UTF-8, lone surrogates, control characters in strings, duplicate member names (RFC 8785 needs them
/// unique), nesting beyond `maximumDepth`, anything after the value.
public struct JSONParser {
  public static let defaultMaximumDepth = 64

  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0
  private var depth = 0
  private let maximumDepth: Int

  /// - Throws: `JSONSyntaxError`.
  public static func parse(
    _ bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int = defaultMaximumDepth
  ) throws(JSONSyntaxError) -> JSONValue {
    var parser = JSONParser(bytes: bytes, maximumDepth: maximumDepth)
    parser.skipSpace()
    let value = try parser.value()
    parser.skipSpace()
    guard parser.position == bytes.count else { throw parser.error("unexpected text after the value") }
    return value
  }

  /// - Throws: `JSONSyntaxError`.
  public static func parse(
    _ bytes: [UInt8], maximumDepth: Int = defaultMaximumDepth
  ) throws(JSONSyntaxError) -> JSONValue {
    let result = bytes.withUnsafeBufferPointer { buffer in
      Result { () throws(JSONSyntaxError) in try parse(buffer, maximumDepth: maximumDepth) }
    }
    return try result.get()
  }

  /// - Throws: `JSONSyntaxError`.
  public static func parse(
    _ text: String, maximumDepth: Int = defaultMaximumDepth
  ) throws(JSONSyntaxError) -> JSONValue {
    try parse(Array(text.utf8), maximumDepth: maximumDepth)
  }

  private init(bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int) {
    self.bytes = bytes
    self.maximumDepth = maximumDepth
  }

  private func error(_ message: String) -> JSONSyntaxError { JSONSyntaxError(message: message, offset: position) }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard current == byte else { return false }
    position += 1
    return true
  }

  private mutating func value() throws(JSONSyntaxError) -> JSONValue {
    switch current {
    case UInt8(ascii: "{"): return .object(try object())
    case UInt8(ascii: "["): return .array(try array())
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    case .some(UInt8(ascii: "-")), .some(0x30...0x39): return .number(try number())
    case nil: throw error("the text ends where a value should stand")
    default: throw error("no value starts with this byte")
    }
  }

  private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
    let count = text.utf8CodeUnitCount
    guard position + count <= bytes.count else { throw error("unknown word") }
    for index in 0..<count where bytes[position + index] != text.utf8Start[index] { throw error("unknown word") }
    position += count
    return value
  }

  private mutating func enter() throws(JSONSyntaxError) {
    depth += 1
    guard depth <= maximumDepth else { throw error("nested deeper than \(maximumDepth) levels") }
    position += 1
    skipSpace()
  }

  private mutating func array() throws(JSONSyntaxError) -> [JSONValue] {
    try enter()
    defer { depth -= 1 }
    var elements: [JSONValue] = []
    if take(UInt8(ascii: "]")) { return elements }
    while true {
      elements.append(try value())
      skipSpace()
      if take(UInt8(ascii: "]")) { return elements }
      guard take(UInt8(ascii: ",")) else { throw error("expected ',' or ']'") }
      skipSpace()
    }
  }

  private mutating func object() throws(JSONSyntaxError) -> JSONObject {
    try enter()
    defer { depth -= 1 }
    var members: [(name: String, value: JSONValue)] = []
    var names: Set<ExactName> = []
    if take(UInt8(ascii: "}")) { return JSONObject() }
    while true {
      guard current == UInt8(ascii: "\"") else { throw error("expected a member name") }
      let name = try string()
      // A linear look is cheaper than hashing for the few members that most objects have.
      let exact = ExactName(text: name)
      let isNew = members.count < 8 ? !members.contains { ExactName(text: $0.name) == exact } : !names.contains(exact)
      guard isNew else { throw error("duplicate member name \"\(name)\"") }
      if members.count >= 7 {
        if names.isEmpty { names = Set(members.map { ExactName(text: $0.name) }) }
        names.insert(exact)
      }
      skipSpace()
      guard take(UInt8(ascii: ":")) else { throw error("expected ':'") }
      skipSpace()
      members.append((name, try value()))
      skipSpace()
      if take(UInt8(ascii: "}")) { return JSONObject(uniqueMembers: members) }
      guard take(UInt8(ascii: ",")) else { throw error("expected ',' or '}'") }
      skipSpace()
    }
  }

  private mutating func number() throws(JSONSyntaxError) -> JSONNumber {
    let start = position
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try digits() }
    if take(UInt8(ascii: ".")) { try digits() }
    if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
      position += 1
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try digits()
    }
    return JSONNumber(checkedLiteral: String(decoding: bytes[start..<position], as: UTF8.self))
  }

  private mutating func digits() throws(JSONSyntaxError) {
    let start = position
    while let byte = current, byte >= 0x30, byte <= 0x39 { position += 1 }
    guard position > start else { throw error("expected a digit") }
  }

  private mutating func string() throws(JSONSyntaxError) -> String {
    position += 1
    let start = position
    while let byte = current {
      if byte == UInt8(ascii: "\"") {
        defer { position += 1 }
        return try text(bytes[start..<position], at: start)
      }
      if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
      guard byte >= 0x20 else { throw error("control character in a string") }
      position += 1
    }
    throw error("the string has no end")
  }

  private func text(_ slice: Slice<UnsafeBufferPointer<UInt8>>, at start: Int) throws(JSONSyntaxError) -> String {
    guard let text = String(validating: slice, as: UTF8.self) else {
      throw JSONSyntaxError(message: "invalid UTF-8 in a string", offset: start)
    }
    return text
  }

  /// The slow path, taken from the first backslash on.
  private mutating func escapedString(from start: Int) throws(JSONSyntaxError) -> String {
    var buffer = Array(bytes[start..<position])
    while let byte = current {
      position += 1
      if byte == UInt8(ascii: "\"") {
        guard let text = String(validating: buffer, as: UTF8.self) else {
          throw JSONSyntaxError(message: "invalid UTF-8 in a string", offset: start)
        }
        return text
      }
      if byte == UInt8(ascii: "\\") {
        buffer.append(contentsOf: try escape())
      } else {
        guard byte >= 0x20 else { throw error("control character in a string") }
        buffer.append(byte)
      }
    }
    throw error("the string has no end")
  }

  private mutating func escape() throws(JSONSyntaxError) -> [UInt8] {
    guard let byte = current else { throw error("the string has no end") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"): return try unicodeEscape()
    default: throw error("unknown escape")
    }
  }

  private mutating func unicodeEscape() throws(JSONSyntaxError) -> [UInt8] {
    var code = UInt32(try hexQuad())
    if (0xD800...0xDBFF).contains(code), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) {
      let low = UInt32(try hexQuad())
      guard (0xDC00...0xDFFF).contains(low) else { throw error("lone surrogate in a string") }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw error("lone surrogate in a string") }
    return Array(String(Character(scalar)).utf8)
  }

  private mutating func hexQuad() throws(JSONSyntaxError) -> UInt16 {
    guard position + 4 <= bytes.count else { throw error("the string has no end") }
    var code: UInt16 = 0
    for _ in 0..<4 {
      let byte = bytes[position]
      let digit: UInt8
      switch byte {
      case 0x30...0x39: digit = byte - 0x30
      case 0x41...0x46: digit = byte - 0x41 + 10
      case 0x61...0x66: digit = byte - 0x61 + 10
      default: throw error("expected four hexadecimal digits")
      }
      code = code << 4 | UInt16(digit)
      position += 1
    }
    return code
  }
}

/// A name by its bytes. Swift takes composed and decomposed letters for equal, JSON does not (RFC 8259 section 8.3).
private struct ExactName: Hashable {
  let text: String

  // The first is quick, and almost always says no.
  static func == (left: ExactName, right: ExactName) -> Bool {
    left.text == right.text && left.text.utf8.elementsEqual(right.text.utf8)
  }

  // Equal bytes are equal texts, so this hash will do.
  func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
