import Foundation
import TaskConfig
import Testing

@Suite("A config file's mistakes are named with their place")
struct ConfigFileTests {
  private func problem(_ text: String) throws -> String {
    let path = NSTemporaryDirectory() + "config-\(UUID().uuidString).json"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let error = #expect(throws: ConfigError.self) { try ConfigFile.load(path: path, environment: [:]) }
    return (error?.description ?? "").replacing(path, with: "FILE")
  }

  private func destination(_ url: String) -> String {
    #"{"destinations":{"d":{"credential":{"type":"http","url":"\#(url)"},"delivery":{"type":"frontEnd"}}}}"#
  }

  @Test("what is no JSON, by line and column")
  func syntax() throws {
    #expect(try problem("{\"uploads\":\n  {\"slots\" 3}}") == "FILE:2:12: expected ':'")
    #expect(try problem("") == "FILE:1:1: the text ends where a value should stand")
  }

  @Test("an unknown field, with those that are known")
  func unknown() throws {
    #expect(
      try problem(#"{"retention":{"days":3}}"#) == "FILE: /retention/days: unknown field; known: finishedDays")
  }

  @Test("authorities that can't be read, and are not left for every upload to fail on")
  func authorities() throws {
    #expect(
      try problem(#"{"uploads":{"caFile":"/no/such.pem"}}"#)
        == "FILE: /uploads/caFile: the file /no/such.pem can't be read: No such file or directory")
    #expect(try problem(#"{"uploads":{"caFile":"ca.pem"}}"#).contains("must be an absolute path"))
  }

  @Test(
    "a URL that nobody can call",
    arguments: [
      ("http://", "must name a host"), ("https:///path", "must name a host"), ("http://x/a b", "must be encoded"),
      ("ftp://x", "must begin with http:// or https://"),
      ("http://x/{user}", #"unknown place "{user}"; known: {account}, {kind}, {taskId}"#),
      ("http://x/{kind", #"unknown place "{kind"; known"#),
    ])
  func urls(_ url: String, _ message: String) throws {
    let problem = try problem(destination(url))
    #expect(problem.hasPrefix("FILE: /destinations/d/credential/url: \(message)"))
  }
}
