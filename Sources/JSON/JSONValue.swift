/// One JSON value (RFC 8259), as parsed: members keep their order and numbers keep their digits, so that a request's id
/// goes back exactly as it came.
public enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)
}

extension JSONValue {
  public static func int(_ value: some BinaryInteger) -> JSONValue { .number(JSONNumber(Int64(clamping: value))) }

  /// A finite double; NaN and infinities have no JSON form and become null.
  public static func double(_ value: Double) -> JSONValue {
    value.isFinite ? .number(JSONNumber(value)) : .null
  }

  public var string: String? { if case .string(let value) = self { value } else { nil } }
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  public var int: Int64? { if case .number(let value) = self { value.int } else { nil } }
  public var double: Double? { if case .number(let value) = self { value.double } else { nil } }
  public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
  public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

  public subscript(name: String) -> JSONValue? { object?[name] }

  /// What a person would call this value in an error message.
  public var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .int(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}

/// A number by its literal text; only whoever needs a machine number converts it.
public struct JSONNumber: Sendable, Hashable {
  public let literal: String

  /// Takes a literal that the parser has already checked against the grammar.
  init(checkedLiteral: String) { literal = checkedLiteral }
  public init(_ value: Int64) { literal = String(value) }
  /// `value` must be finite.
  public init(_ value: Double) { literal = ECMAScriptNumber.text(value) }

  /// The value where it is written as, or is exactly, an integer of 64 bits.
  public var int: Int64? {
    if let value = Int64(literal) { return value }
    guard let value = Double(literal), value.rounded() == value, abs(value) < 0x1p63 else { return nil }
    return Int64(value)
  }

  public var double: Double? { Double(literal) }
}

/// Members in the order in which they were written. Names are unique.
public struct JSONObject: Sendable {
  public private(set) var members: [(name: String, value: JSONValue)]

  public init() { members = [] }
  /// Of members with the same name the last one stays.
  public init(_ members: [(String, JSONValue)]) {
    self.members = []
    self.members.reserveCapacity(members.count)
    for (name, value) in members { self[name] = value }
  }
  init(uniqueMembers: [(name: String, value: JSONValue)]) { members = uniqueMembers }

  public var isEmpty: Bool { members.isEmpty }
  public var count: Int { members.count }

  /// Setting nil removes the member: absent means absent, never null.
  public subscript(name: String) -> JSONValue? {
    get { members.first { $0.name == name }?.value }
    set {
      let index = members.firstIndex { $0.name == name }
      switch (index, newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append((name, value))
      case (nil, nil): break
      }
    }
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}

extension JSONObject: Hashable {
  private var dictionary: [String: JSONValue] {
    Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
  }
  /// Order of members does not matter, as in RFC 8259 section 4.
  public static func == (left: JSONObject, right: JSONObject) -> Bool {
    left.count == right.count && left.dictionary == right.dictionary
  }
  public func hash(into hasher: inout Hasher) { hasher.combine(dictionary) }
}
