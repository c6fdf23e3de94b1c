import Testing

@testable import HTTP

@Suite("The stall watch")
struct StallWatchTests {
  @Test("nothing moved for the timeout is a stall")
  func still() {
    var watch = StallWatch(timeoutMs: 1_000, nowMs: 0)
    #expect(watch.look(moved: 5, queued: 0, nowMs: 10) == .lookAgain(afterMs: 1_000))
    #expect(watch.look(moved: 5, queued: 0, nowMs: 1_009) == .lookAgain(afterMs: 1))
    #expect(watch.look(moved: 5, queued: 0, nowMs: 1_010) == .stalled)
  }

  @Test("a queue that drains moves, and is looked at more often")
  func draining() {
    var watch = StallWatch(timeoutMs: 1_000, nowMs: 0)
    #expect(watch.look(moved: 5, queued: 900, nowMs: 0) == .lookAgain(afterMs: 100))
    #expect(watch.look(moved: 5, queued: 800, nowMs: 900) == .lookAgain(afterMs: 100))
    #expect(watch.look(moved: 5, queued: 700, nowMs: 1_800) == .lookAgain(afterMs: 100))
    #expect(watch.look(moved: 5, queued: 700, nowMs: 2_800) == .stalled)
  }
}

@Suite("Origins")
struct OriginTests {
  @Test(
    "scheme, host and port of a URL",
    arguments: [
      ("http://Host/x", "http host 80"), ("https://u:p@h:8443?q=a@b", "https h 8443"),
      ("http://[::1]:9/", "http [::1] 9"),
      ("https://[::1]", "https [::1] 443"),
    ])
  func parts(_ url: String, _ expected: String) throws {
    let origin = try #require(Origin(url))
    #expect("\(origin.scheme) \(origin.host) \(origin.port)" == expected)
  }

  @Test("no host, no origin", arguments: ["", "x", "http://", "http:///x", "/a"])
  func none(_ url: String) { #expect(Origin(url) == nil) }
}
