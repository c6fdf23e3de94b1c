/// A moment as calendar fields in UTC, by the proleptic Gregorian calendar.
struct UTCTime: Sendable, Hashable {
  let year: Int
  /// 1 to 12, 1 to 31.
  let month: Int
  let dayOfMonth: Int
  let secondOfDay: Int

  init(milliseconds: Int64) {
    let seconds = Int((Double(milliseconds) / 1_000).rounded(.down))
    let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    secondOfDay = seconds - days * 86_400
    // Days since 0000-03-01, in eras of 400 years, so that the leap day is the last of its year.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    dayOfMonth = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// `20130524`.
  var day: String { Self.digits(year, 4) + Self.digits(month, 2) + Self.digits(dayOfMonth, 2) }

  /// `20130524T000000Z`.
  var compact: String {
    let (hour, minute, second) = (secondOfDay / 3_600, secondOfDay / 60 % 60, secondOfDay % 60)
    return "\(day)T\(Self.digits(hour, 2))\(Self.digits(minute, 2))\(Self.digits(second, 2))Z"
  }

  private static func digits(_ value: Int, _ count: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }

  /// Milliseconds since 1970 of an IMF-fixdate such as `Fri, 24 May 2013 00:00:00 GMT`, the form that RFC 9110
  /// section 5.6.7 has every server send.
  static func milliseconds(ofHTTPDate text: String) -> Int64? {
    let words = text.split(separator: " ")
    guard words.count == 6, words[5] == "GMT", let day = Int(words[1]), let month = months.firstIndex(of: words[2]),
      let year = Int(words[3]), (1...31).contains(day), (1970...9999).contains(year)
    else { return nil }
    let clock = words[4].split(separator: ":").compactMap { Int($0) }
    guard clock.count == 3, (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2]) else {
      return nil
    }
    let shiftedYear = month < 2 ? year - 1 : year
    let shiftedMonth = (month + 10) % 12
    let days =
      365 * shiftedYear + shiftedYear / 4 - shiftedYear / 100 + shiftedYear / 400 + (153 * shiftedMonth + 2) / 5 + day
      - 1 - 719_468
    return Int64(days * 86_400 + clock[0] * 3_600 + clock[1] * 60 + clock[2]) * 1_000
  }

  private static let months: [Substring] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
