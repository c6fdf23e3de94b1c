import CCurl

/// What `Retry-After` asks for (RFC 9110 section 10.2.3). libcurl reads it too, but takes `2026-12-30` for 2026 seconds, and
/// measures a date by our clock, which may be wrong; the server has said what time it is there.
enum RetryAfter {
  /// A hundred years are enough, and sums fit.
  private static let longestSeconds: Int64 = 3_155_760_000

  /// - Parameter wallMs: our own clock, for an answer without a date.
  /// - Returns: milliseconds from now; 0 for a date that is over, and for what can't be read; nil without the field.
  static func milliseconds(_ headers: [HTTPHeader], wallMs: Int64) -> Int64? {
    guard let text = value("retry-after", headers) else { return nil }
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return min(Int64(text) ?? longestSeconds, longestSeconds) * 1_000
    }
    guard let end = seconds(text) else { return 0 }
    let now = value("date", headers).flatMap(seconds) ?? wallMs / 1_000
    return min(max(0, end - now), longestSeconds) * 1_000
  }

  private static func value(_ name: String, _ headers: [HTTPHeader]) -> String? {
    headers.first { $0.name.lowercased() == name }?.value
  }

  /// Since 1970. Every form of a date begins with the name of a day (section 5.6.7).
  private static func seconds(_ text: String) -> Int64? {
    guard let first = text.utf8.first, (0x41...0x5A).contains(first & 0xDF) else { return nil }
    let seconds = tc_curl_getdate(text)
    return seconds < 0 ? nil : Int64(seconds)
  }
}
