import Glibc
import JSON
import Platform
import TaskEngine

func complain(_ message: String) {
  let line = Array((message + "\n").utf8)
  _ = write(2, line, line.count)
}

/// One line a message on stderr; a reader that has gone is no reason to stop working.
enum StderrLog {
  static func make(level: Log.Level, json: Bool) -> Log {
    Log(level: level) { level, message in
      let now = SystemTime.wallMs()
      complain(
        json
          ? JSONWriter.text(["at": .int(now), "level": .string("\(level)"), "message": .string(message)])
          : "\(stamp(now)) \(level): \(message)")
    }
  }

  /// UTC, as in RFC 3339.
  private static func stamp(_ milliseconds: Int64) -> String {
    var seconds = time_t(milliseconds / 1_000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    var buffer = [CChar](repeating: 0, count: 32)
    let count = strftime(&buffer, buffer.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
    return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

enum Environment {
  static var current: [String: String] {
    var result: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
      let parts = String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { result[String(parts[0])] = String(parts[1]) }
      next += 1
    }
    return result
  }
}
