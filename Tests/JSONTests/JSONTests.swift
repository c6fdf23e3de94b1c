import Testing

@testable import JSON

@Suite("JSON text")
struct JSONTests {
  @Test(
    "a value survives parse and write byte for byte",
    arguments: [
      #"{"a":[1,2.50,-0,1e5,9007199254740993],"b":null,"c":true,"d":"x"}"#, "[]", "{}", "\"é😀\"", "0.1e-7", "false",
    ])
  func roundTrip(_ text: String) throws { #expect(JSONWriter.text(try JSONParser.parse(text)) == text) }

  @Test(
    "what is not JSON is refused",
    arguments: [
      "", " ", "{", "[1,]", "{\"a\":1,}", "{a:1}", "01", "1.", "+1", ".5", "1e", "nul", "truex", "\"\u{01}\"", "\"a",
      #""\ud800""#, #""\ud800A""#, #""\x""#, "[1] 2", #"{"a":1,"a":2}"#, "NaN", "'a'",
    ])
  func refused(_ text: String) { #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(text) } }

  @Test("invalid UTF-8 is refused with its place")
  func invalidUTF8() {
    #expect(throws: JSONSyntaxError.self) { try JSONParser.parse([0x22, 0x61, 0xFF, 0x22]) }
    #expect(throws: JSONSyntaxError.self) { try JSONParser.parse([0x22, 0x5C, 0x6E, 0xC0, 0xAF, 0x22]) }
  }

  @Test("64 levels pass, 65 do not")
  func depth() throws {
    func nested(_ levels: Int) -> String {
      String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
    _ = try JSONParser.parse(nested(64))
    #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(nested(65)) }
  }

  @Test("many members keep their order and duplicates among them are found")
  func manyMembers() throws {
    let names = (0..<40).map { "n\($0)" }
    let text = "{" + names.map { "\"\($0)\":0" }.joined(separator: ",") + "}"
    #expect(try JSONParser.parse(text).object?.members.map(\.name) == names)
    #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(text.dropLast() + ",\"n9\":1}") }
  }

  @Test("names are compared by their bytes: composed and decomposed letters are two", arguments: [0, 9])
  func bytesOfNames(_ others: Int) throws {
    let more = (0..<others).map { "\"n\($0)\":0," }.joined()
    let text = "{\(more)\"\u{e9}\":1,\"e\u{301}\":2}"
    #expect(JSONWriter.text(try JSONParser.parse(text)) == text)
    #expect(throws: JSONSyntaxError.self) { try JSONParser.parse("{\(more)\"\u{e9}\":1,\"\u{e9}\":2}") }
  }

  @Test("surrogate pairs and short escapes are read")
  func escapes() throws {
    #expect(try JSONParser.parse(#""\ud83d\ude00\n\/\u00e9""#).string == "😀\n/é")
  }

  @Test(
    "canonical numbers are written as ECMAScript writes them",
    arguments: [
      (0.0, "0"), (-0.0, "0"), (1, "1"), (-1.5, "-1.5"), (1e21, "1e+21"), (1e20, "100000000000000000000"),
      (1e-6, "0.000001"), (1e-7, "1e-7"), (1.5e-9, "1.5e-9"),
      (4.35, "4.35"), (0.002, "0.002"), (.leastNonzeroMagnitude, "5e-324"),
      (1.7976931348623157e308, "1.7976931348623157e+308"),
      (333333333.3333333, "333333333.3333333"), (10, "10"), (120, "120"),
    ] as [(Double, String)])
  func ecmaScriptNumbers(_ value: Double, _ text: String) { #expect(ECMAScriptNumber.text(value) == text) }

  @Test(
    "digits that a double can't hold stay where they are asked for, all others are canonical",
    arguments: [
      ("9007199254740993", "9007199254740993"), ("9007199254740992", "9007199254740992"), ("1e400", "1e400"),
      ("1e-400", "1e-400"), ("1.50", "1.5"), ("-0.0", "0"), ("100e-2", "1"), ("0.1", "0.1"), ("-12e1", "-120"),
    ])
  func canonicalDigits(_ number: String, _ text: String) throws {
    #expect(CanonicalJSON.text(try JSONParser.parse("[\(number)]"), keepingDigits: true) == "[\(text)]")
  }

  @Test("canonical objects are sorted by UTF-16 units (RFC 8785 section 3.2.3's example)")
  func canonicalOrder() throws {
    let value = try JSONParser.parse(#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#)
    #expect(
      CanonicalJSON.text(value) == "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}")
  }
}

@Suite("Reading JSON by shape")
struct JSONReaderTests {
  enum Colour: String, CaseIterable { case red, green }

  @Test("errors name the place by a JSON pointer")
  func pointers() throws {
    let value = try JSONParser.parse(#"{"list":[{"n":1},{"n":"x"}],"a/b":{"~":3}}"#)
    var fields = try JSONReader(value).object()
    let list = try fields.required("list").array()
    var second = try list[1].object()
    let error = #expect(throws: JSONShapeError.self) { try second.required("n").int() }
    #expect(error == JSONShapeError(pointer: "/list/1/n", message: "expected an integer, found a string"))
    #expect(throws: JSONShapeError(pointer: "/a~1b", message: "unknown field; known: list")) { try fields.finish() }
    var odd = try fields.required("a/b").object()
    #expect(try odd.required("~").pointer == "/a~1b/~0")
    #expect(throws: JSONShapeError(pointer: "/a~1b/x", message: "is missing")) { try odd.required("x") }
  }

  @Test("an unknown word lists the known ones")
  func oneOf() {
    #expect(throws: JSONShapeError(pointer: "/c", message: "unknown value \"blue\"; known: red, green")) {
      try JSONReader("blue", pointer: "/c").oneOf(Colour.self)
    }
  }
}
