/// The JSON Canonicalization Scheme (RFC 8785): the same content is the same bytes, whoever wrote it.
public enum CanonicalJSON {
  public static func bytes(_ value: JSONValue) -> [UInt8] { JSONWriter.bytes(canonical(value)) }

  /// - Parameter keepingDigits: a number that no double says exactly stays as it was written.
  public static func text(_ value: JSONValue, keepingDigits: Bool = false) -> String {
    JSONWriter.text(canonical(value, keepingDigits: keepingDigits))
  }

  private static func canonical(_ value: JSONValue, keepingDigits: Bool = false) -> JSONValue {
    switch value {
    case .null, .bool, .string: value
    // Section 3.2.2.3: numbers as ECMAScript writes the nearest double.
    case .number(let number):
      keepingDigits && !ECMAScriptNumber.says(number) ? value : number.double.map(JSONValue.double) ?? value
    case .array(let elements): .array(elements.map { canonical($0, keepingDigits: keepingDigits) })
    // Section 3.2.3: members sorted by their names' UTF-16 code units.
    case .object(let object):
      .object(
        JSONObject(
          uniqueMembers: object.members
            .sorted { $0.name.utf16.lexicographicallyPrecedes($1.name.utf16) }
            .map { ($0.name, canonical($0.value, keepingDigits: keepingDigits)) }))
    }
  }
}

/// ECMAScript's Number::toString (ECMA-262 section 6.1.6.1.20), which RFC 8785 prescribes.
enum ECMAScriptNumber {
  static func text(_ value: Double) -> String {
    // Doubles hold every integer up to here; their digits are the shortest.
    if abs(value) <= 0x1p53, value.rounded() == value { return String(Int64(value)) }
    if value < 0 { return "-" + text(-value) }
    let (digits, exponent) = shortest(value)
    let count = digits.count
    switch exponent {
    case count...21 where count <= 21: return digits + String(repeating: "0", count: exponent - count)
    case 1..<max(count, 2) where exponent < count: return digits.prefix(exponent) + "." + digits.dropFirst(exponent)
    case -5...0: return "0." + String(repeating: "0", count: -exponent) + digits
    default:
      let power = exponent - 1
      let mantissa = count == 1 ? digits : digits.prefix(1) + "." + digits.dropFirst()
      return mantissa + "e" + (power < 0 ? "-" : "+") + String(abs(power))
    }
  }

  /// Whether the nearest double is written with the digits of `number` itself.
  static func says(_ number: JSONNumber) -> Bool {
    guard let value = number.double, value.isFinite else { return false }
    let mantissa = number.literal.prefix { $0 != "e" && $0 != "E" }.filter { $0 != "-" && $0 != "." }
    var digits = mantissa.drop { $0 == "0" }
    while digits.last == "0" { digits.removeLast() }
    return value == 0 ? digits.isEmpty : digits == shortest(abs(value)).digits
  }

  /// The shortest digits that read back as `value` = 0.digits · 10^exponent. Swift's description finds them.
  private static func shortest(_ value: Double) -> (digits: String, exponent: Int) {
    let parts = value.description.split(separator: "e")
    let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    let whole = mantissa[0]
    let fraction = mantissa.count > 1 ? mantissa[1] : ""
    var digits = Substring(whole + fraction)
    var exponent = whole.count + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
    while digits.count > 1, digits.first == "0" {
      digits.removeFirst()
      exponent -= 1
    }
    while digits.count > 1, digits.last == "0" { digits.removeLast() }
    return (String(digits), exponent)
  }
}
