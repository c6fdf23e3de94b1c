/// A value of the right syntax and the wrong shape: what is wrong, and where, as a JSON pointer (RFC 6901).
public struct JSONShapeError: Error, Sendable, Equatable, CustomStringConvertible {
  public let pointer: String
  public let message: String
  public init(pointer: String, message: String) {
    self.pointer = pointer
    self.message = message
  }
  public var description: String { "\(pointer.isEmpty ? "/" : pointer): \(message)" }
}

/// One value together with the way to it. Every accessor either returns what was asked for or names the place where
/// something else stands.
public struct JSONReader: Sendable {
  public let value: JSONValue
  public let pointer: String

  public init(_ value: JSONValue, pointer: String = "") {
    self.value = value
    self.pointer = pointer
  }

  public func error(_ message: String) -> JSONShapeError { JSONShapeError(pointer: pointer, message: message) }

  private func expected(_ what: String) -> JSONShapeError { error("expected \(what), found \(value.typeName)") }

  public func string() throws(JSONShapeError) -> String {
    guard let result = value.string else { throw expected("a string") }
    return result
  }

  public func nonEmptyString() throws(JSONShapeError) -> String {
    let result = try string()
    guard !result.isEmpty else { throw error("must not be empty") }
    return result
  }

  public func bool() throws(JSONShapeError) -> Bool {
    guard let result = value.bool else { throw expected("true or false") }
    return result
  }

  /// An integer within `range`.
  public func int(in range: ClosedRange<Int64> = 0...Int64.max) throws(JSONShapeError) -> Int64 {
    guard let result = value.int else { throw expected("an integer") }
    guard range.contains(result) else {
      let isOpen = range.upperBound == .max
      let limits = isOpen ? "at least \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
      throw error("must be \(limits), found \(result)")
    }
    return result
  }

  public func array() throws(JSONShapeError) -> [JSONReader] {
    guard let elements = value.array else { throw expected("an array") }
    return elements.enumerated().map { JSONReader($0.element, pointer: "\(pointer)/\($0.offset)") }
  }

  public func object() throws(JSONShapeError) -> JSONFields {
    guard let object = value.object else { throw expected("an object") }
    return JSONFields(object, pointer: pointer)
  }

  /// One of the cases of a string enumeration; the error lists them.
  public func oneOf<T: RawRepresentable & CaseIterable>(
    _ type: T.Type
  ) throws(JSONShapeError) -> T where T.RawValue == String {
    let text = try string()
    guard let result = T(rawValue: text) else {
      let known = T.allCases.map(\.rawValue).joined(separator: ", ")
      throw error("unknown value \"\(text)\"; known: \(known)")
    }
    return result
  }

  /// The object's members by name, where the names are data.
  public func members() throws(JSONShapeError) -> [(name: String, reader: JSONReader)] {
    guard let object = value.object else { throw expected("an object") }
    return object.members.map { ($0.name, JSONReader($0.value, pointer: JSONPointer.child(of: pointer, $0.name))) }
  }
}

/// The members of one object, taken one by one; `finish` refuses those that nobody asked for.
public struct JSONFields: Sendable {
  private let object: JSONObject
  public let pointer: String
  /// In the order in which they were asked for.
  private var known: [String] = []

  public init(_ object: JSONObject, pointer: String = "") {
    self.object = object
    self.pointer = pointer
  }

  public func error(_ message: String) -> JSONShapeError { JSONShapeError(pointer: pointer, message: message) }

  /// The member, if it is there.
  public mutating func optional(_ name: String) -> JSONReader? {
    if !known.contains(name) { known.append(name) }
    return object[name].map { JSONReader($0, pointer: JSONPointer.child(of: pointer, name)) }
  }

  public mutating func required(_ name: String) throws(JSONShapeError) -> JSONReader {
    guard let reader = optional(name) else {
      throw JSONShapeError(pointer: JSONPointer.child(of: pointer, name), message: "is missing")
    }
    return reader
  }

  /// Call when every known member was asked for.
  public func finish() throws(JSONShapeError) {
    for member in object.members where !known.contains(member.name) {
      let hint = known.isEmpty ? "" : "; known: " + known.joined(separator: ", ")
      throw JSONShapeError(pointer: JSONPointer.child(of: pointer, member.name), message: "unknown field" + hint)
    }
  }
}

enum JSONPointer {
  /// RFC 6901 section 3: '~' and '/' in a name are escaped.
  static func child(of pointer: String, _ name: String) -> String {
    var result = pointer + "/"
    for character in name.unicodeScalars {
      switch character {
      case "~": result += "~0"
      case "/": result += "~1"
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }
}
