import Foundation
import TaskTestSupport
import Testing

@Suite("What a worker can't do any more")
struct SandboxTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    for name in ["exports", "outside"] {
      try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
    }
    for name in ["input", "outside/secret", "outside/spare"] {
      try Data("secret".utf8).write(to: URL(fileURLWithPath: folder(name)))
    }
  }

  /// - Returns: what came of each attempt, by its name.
  private func probe(_ mode: String) throws -> [String: String] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try Programs.path("sandbox-probe"))
    process.arguments = [mode, folder("exports"), folder("outside")]
    process.standardInput = FileHandle(forReadingAtPath: folder("input"))
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let lines = text.split(separator: "\n").map { $0.components(separatedBy: ": ") }
    return Dictionary(lines.map { ($0[0], $0.dropFirst().joined(separator: ": ")) }) { $1 }
  }

  private static let work = [
    "read the input", "write in the folder", "read in the folder", "truncate in the folder", "remove in the folder",
    "start a thread", "signal itself",
  ]
  private static let reading = ["read /etc/passwd", "read a file outside", "list a folder outside"]
  private static let escapes = [
    "write outside", "overwrite outside", "truncate outside", "make a folder outside", "remove outside",
    "open a socket", "change the mode of a file outside", "change the mode of the input", "start a program",
    "signal another process", "become another program",
  ]

  @Test("without the sandbox every attempt works, so that the other tests mean something")
  func free() throws {
    let found = try probe("none")
    for what in Self.work + Self.reading + Self.escapes { #expect(found[what] == "works", "\(what)") }
    #expect(found.count == (Self.work + Self.reading + Self.escapes).count)
  }

  @Test("a media worker keeps its input, its folder and its threads, and nothing else")
  func media() throws {
    let found = try probe("media")
    #expect(found["lacking"] == nil, "this machine can't tell: \(found["lacking"] ?? "")")
    for what in Self.work { #expect(found[what] == "works", "\(what)") }
    let refusals = ["Permission denied", "Operation not permitted"]
    for what in Self.reading + Self.escapes { #expect(refusals.contains(found[what] ?? ""), "\(what): \(found)") }
    #expect(try String(contentsOfFile: folder("outside/secret"), encoding: .utf8) == "secret")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder("outside")).sorted() == ["secret", "spare"])
  }

  @Test("an archive's worker may read by path, and still neither write outside, nor call out, nor start anything")
  func archives() throws {
    let found = try probe("archives")
    for what in Self.work + Self.reading { #expect(found[what] == "works", "\(what)") }
    for what in Self.escapes { #expect(found[what] != "works", "\(what)") }
  }

  @Test("a file stops growing at its limit, the process goes on, and the limit can be lifted for the next order")
  func limits() throws {
    #expect(
      try probe("limits") == [
        "write up to the limit": "works", "write beyond the limit": "File too large",
        "write when it is lifted": "works", "hold many files": "Too many open files",
      ])
  }
}
