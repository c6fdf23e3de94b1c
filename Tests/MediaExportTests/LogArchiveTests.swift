import ExportProtocol
import Foundation
import LogArchive
import TaskModel
import Testing

@Suite("Archives of logs")
struct LogArchiveTests {
  private let folder: Folder
  private let output: String

  init() throws {
    folder = try Folder()
    output = folder.file("out.zip")
    try FileManager.default.createDirectory(atPath: folder.file("logs/empty"), withIntermediateDirectories: true)
  }

  private func entries(_ names: String...) -> [ArchiveEntry] {
    names.map { ArchiveEntry(path: folder.file($0), name: ($0 as NSString).lastPathComponent) }
  }

  /// Names in the archive, and whether each is marked as UTF-8, as Python's reader sees them.
  private func listing() throws -> [String] {
    let script =
      "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print('\\n'.join(z.namelist()))"
    return String(decoding: try run("env", "PYTHONIOENCODING=utf-8", "python3", "-c", script, output), as: UTF8.self)
      .split(separator: "\n").map(String.init)
  }

  @Test("Folders go in sorted, with names in any script, without links")
  func contents() throws {
    _ = try folder.write("logs/b.log", Data("b".utf8))
    _ = try folder.write("logs/Ёлка.log", Data("tree".utf8))
    _ = try folder.write("logs/a.log", Data(repeating: 7, count: 1_000_000))
    try FileManager.default.createSymbolicLink(atPath: folder.file("logs/link"), withDestinationPath: "/etc/passwd")
    let result = try LogArchive.write(entries("logs"), to: output) { _ in }
    #expect(try listing() == ["logs/", "logs/a.log", "logs/b.log", "logs/empty/", "logs/Ёлка.log"])
    #expect(try run("unzip", "-p", output, "logs/Ёлка.log") == Data("tree".utf8))
    #expect(result.rung == "zip" && result.mime == "application/zip")
    #expect(result.size < 10_000)
  }

  @Test("The same folder gives the same bytes")
  func deterministic() throws {
    for name in ["c", "a", "b"] { _ = try folder.write("logs/" + name, Data(name.utf8)) }
    _ = try LogArchive.write(entries("logs"), to: output) { _ in }
    let first = try Data(contentsOf: URL(fileURLWithPath: output))
    _ = try LogArchive.write(entries("logs"), to: output) { _ in }
    #expect(try Data(contentsOf: URL(fileURLWithPath: output)) == first)
  }

  @Test("Two files of one name both go in")
  func sameNames() throws {
    _ = try folder.write("app.log", Data("1".utf8))
    _ = try folder.write("logs/app.log", Data("2".utf8))
    _ = try LogArchive.write(entries("app.log", "logs/app.log"), to: output) { _ in }
    #expect(try listing() == ["app.log", "app (2).log"])
    #expect(try run("unzip", "-p", output, "app (2).log") == Data("2".utf8))
  }

  @Test("A name cannot lead out of the folder where it is unpacked")
  func escape() throws {
    let path = try folder.write("app.log", Data("1".utf8))
    _ = try LogArchive.write([ArchiveEntry(path: path, name: "/../../etc/app.log")], to: output) { _ in }
    #expect(try listing() == ["etc/app.log"])
  }

  @Test("A file that is gone, or is none, is named, and nothing is left behind")
  func missing() throws {
    let failure = #expect(throws: Failure.self) { try LogArchive.write(entries("gone.log"), to: output) { _ in } }
    #expect(failure?.code == .sourceMissing)
    #expect(failure?.message == "“gone.log” is not there any more")
    let device = [ArchiveEntry(path: "/dev/null", name: "null")]
    let other = #expect(throws: Failure.self) { try LogArchive.write(device, to: output) { _ in } }
    #expect(other?.code == .sourceNotRegular)
    #expect(folder.names == ["logs"])
  }

  @Test("The archive does not swallow itself")
  func inside() throws {
    _ = try folder.write("logs/a.log", Data("a".utf8))
    let inside = folder.file("logs/out.zip")
    _ = try LogArchive.write(entries("logs"), to: inside) { _ in }
    let names = String(decoding: try run("unzip", "-Z1", inside), as: UTF8.self).split(separator: "\n")
    #expect(names == ["logs/", "logs/a.log", "logs/empty/"])
  }

  @Test("Progress rises by bytes")
  func progress() throws {
    _ = try folder.write("logs/a.log", Data(repeating: 1, count: 4_000_000))
    var told: [Double] = []
    _ = try LogArchive.write(entries("logs"), to: output) { told.append($0) }
    #expect(told.count > 3)
    #expect(told == told.sorted() && told.allSatisfy { $0 < 1 })
  }

  /// The method of each entry: 0 for stored, 8 for deflated.
  private func methods() throws -> [String: String] {
    let script =
      "import sys, zipfile\nfor i in zipfile.ZipFile(sys.argv[1]).infolist(): print(i.filename, i.compress_type)"
    let lines = String(decoding: try run("python3", "-c", script, output), as: UTF8.self).split(separator: "\n")
    return Dictionary(
      uniqueKeysWithValues: lines.map { line in
        let words = line.split(separator: " ").map(String.init)
        return (words[0], words[1])
      })
  }

  @Test("What is dense goes in as it is, what is not is deflated")
  func density() throws {
    var random = SystemRandomNumberGenerator()
    let noise = Data((0..<300_000).map { _ in UInt8.random(in: 0...255, using: &random) })
    _ = try folder.write("noise.bin", noise)
    _ = try folder.write("old.log.gz", Data([0x1F, 0x8B, 8, 0]) + Data(repeating: 0, count: 300_000))
    _ = try folder.write("app.log", Data(repeating: 65, count: 300_000))
    _ = try folder.write("short.bin", noise.prefix(1000))
    _ = try LogArchive.write(entries("noise.bin", "old.log.gz", "app.log", "short.bin"), to: output) { _ in }
    #expect(try methods() == ["noise.bin": "0", "old.log.gz": "0", "app.log": "8", "short.bin": "8"])
    #expect(try run("unzip", "-p", output, "noise.bin") == noise)
    #expect(try listing() == ["noise.bin", "old.log.gz", "app.log", "short.bin"])
  }

  @Test("A folder that is a link goes in when it was named, and is not followed when it was found")
  func links() throws {
    try FileManager.default.createDirectory(atPath: folder.file("private/inner"), withIntermediateDirectories: true)
    _ = try folder.write("private/key", Data("key".utf8))
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("logs/way-out"), withDestinationPath: folder.file("private"))
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("named"), withDestinationPath: folder.file("private"))
    _ = try LogArchive.write(entries("logs", "named"), to: output) { _ in }
    #expect(try listing() == ["logs/", "logs/empty/", "named/", "named/inner/", "named/key"])
  }

  @Test("A file that shrinks or goes while it is read is named")
  func changes() throws {
    let first = try folder.write("logs/a.log", Data(repeating: 1, count: 3_000_000))
    _ = try folder.write("logs/b.log", Data(repeating: 1, count: 100))
    var isFirst = true
    let shrunk = #expect(throws: Failure.self) {
      try LogArchive.write(entries("logs"), to: output) { _ in
        if isFirst { truncate(first, 10) }
        isFirst = false
      }
    }
    #expect(shrunk?.code == .sourceChanged && shrunk?.message.contains("“logs/a.log”") == true)
    _ = try folder.write("logs/a.log", Data(repeating: 1, count: 3_000_000))
    let second = folder.file("logs/b.log")
    let gone = #expect(throws: Failure.self) {
      try LogArchive.write(entries("logs"), to: output) { _ in unlink(second) }
    }
    #expect(gone?.code == .sourceMissing && gone?.message == "“logs/b.log” is not there any more")
    #expect(folder.names == ["logs"])
  }

  @Test("A log that grows while it is read goes in as it was when it was opened")
  func grows() throws {
    let log = try folder.write("app.log", Data(repeating: 65, count: 2_000_000))
    let handle = try #require(FileHandle(forWritingAtPath: log))
    try handle.seekToEnd()
    _ = try LogArchive.write(entries("app.log"), to: output) { _ in handle.write(Data("more".utf8)) }
    #expect(try run("unzip", "-p", output, "app.log") == Data(repeating: 65, count: 2_000_000))
  }

  @Test(
    "Above 4 GiB the archive is Zip64",
    .enabled(if: ProcessInfo.processInfo.environment["TASKCENTER_SLOW_TESTS"] != nil, "make test-all runs it"))
  func zip64() throws {
    let size: UInt64 = (4 << 30) + 7
    let sparse = try folder.write("sparse.log", Data())
    try #require(FileHandle(forWritingAtPath: sparse)).truncate(atOffset: size)
    _ = try folder.write("after.log", Data("after".utf8))
    _ = try LogArchive.write(entries("sparse.log", "after.log"), to: output) { _ in }
    let script =
      "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(*[i.file_size for i in z.infolist()], z.testzip())"
    let sizes = String(decoding: try run("python3", "-c", script, output), as: UTF8.self)
    #expect(sizes == "\(size) 5 None\n")
  }
}
