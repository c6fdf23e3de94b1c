import Testing

@testable import HTTP

@Suite("What Retry-After asks for")
struct RetryAfterTests {
  private static let wallMs: Int64 = 784_111_777_000  // Sun, 06 Nov 1994 08:49:37 GMT

  private func milliseconds(_ value: String, date: String? = nil) -> Int64? {
    let dates = date.map { [HTTPHeader("DATE", $0)] } ?? []
    return RetryAfter.milliseconds(dates + [HTTPHeader("retry-after", value)], wallMs: Self.wallMs)
  }

  @Test(
    "seconds and the three forms of a date are read",
    arguments: [
      ("7", 7_000), ("0", 0), ("Sun, 06 Nov 1994 08:49:47 GMT", 10_000), ("Sunday, 06-Nov-94 08:49:47 GMT", 10_000),
      ("Sun Nov  6 08:49:47 1994", 10_000), ("Sun, 06 Nov 1994 08:49:27 GMT", 0),
    ] as [(String, Int64)])
  func forms(_ value: String, _ expected: Int64) { #expect(milliseconds(value) == expected) }

  @Test("what can't be read asks for nothing", arguments: ["", "soon", "-5", "7.5", "2026-12-30T00:00:00Z", "1e3"])
  func garbage(_ value: String) { #expect(milliseconds(value) == 0) }

  @Test("a number of any size is one that sums can be made with", arguments: ["99999999999", "99999999999999999999"])
  func huge(_ value: String) { #expect(milliseconds(value) == 3_155_760_000_000) }

  @Test("a date is read by the server's clock, whatever ours says")
  func otherClock() {
    #expect(milliseconds("Mon, 07 Nov 2033 10:00:40 GMT", date: "Mon, 07 Nov 2033 10:00:00 GMT") == 40_000)
    #expect(milliseconds("Tue, 07 Nov 1978 10:00:40 GMT", date: "Tue, 07 Nov 1978 10:00:00 GMT") == 40_000)
  }

  @Test("without the field nothing is asked")
  func absent() { #expect(RetryAfter.milliseconds([HTTPHeader("Date", "7")], wallMs: 0) == nil) }
}
