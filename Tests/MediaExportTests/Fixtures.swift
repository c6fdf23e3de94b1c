import ExportProtocol
import Foundation
import TaskModel
import TaskTestSupport
import Testing

@testable import MediaExport

/// A folder of one test, gone when the test is over.
final class Folder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "taskcenter-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }

  func write(_ name: String, _ data: Data) throws -> String {
    try data.write(to: URL(fileURLWithPath: file(name)))
    return file(name)
  }

  var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? [] }
}

struct ToolError: Error, CustomStringConvertible {
  var description: String
}

/// Runs a program and gives back what it wrote to stdout.
@discardableResult
func run(_ tool: String, _ arguments: String..., input: Data? = nil) throws -> Data {
  try run(tool, arguments)
}

@discardableResult
func run(_ tool: String, _ arguments: [String]) throws -> Data {
  var output: Pipe?
  let process = try Spawning.start {
    let pipe = Pipe()
    output = pipe
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [tool] + arguments
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    return process
  }
  let data = output?.fileHandleForReading.readDataToEndOfFile() ?? Data()
  process.waitUntilExit()
  guard process.terminationStatus == 0 else {
    throw ToolError(description: "\(tool) \(arguments.joined(separator: " ")): status \(process.terminationStatus)")
  }
  return data
}

func ffmpeg(_ arguments: String...) throws {
  try run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + arguments)
}

/// Files of the corpus (Tests/Media/make_corpus.py), each made when it is first asked for.
enum Corpus {
  /// - Parameter id: the first letters of the file's name, such as `v02`.
  static func file(_ id: String) throws -> String {
    let folder = try Folder()
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Media/make_corpus.py").path
    try run("python3", script, folder.path, "--only", id)
    let name = try #require(folder.names.first { $0.hasPrefix(id) })
    let kept = kept.path + "/" + name
    try? FileManager.default.removeItem(atPath: kept)
    try FileManager.default.moveItem(atPath: folder.file(name), toPath: kept)
    return kept
  }

  private static let kept: Kept = Kept()

  /// Gone with the process that runs the tests.
  private final class Kept: Sendable {
    let path = NSTemporaryDirectory() + "taskcenter-corpus-\(getpid())"
    init() {
      try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      atexit { try? FileManager.default.removeItem(atPath: NSTemporaryDirectory() + "taskcenter-corpus-\(getpid())") }
    }
  }
}

/// The exporters as the worker calls them, on files by path.
enum Export {
  private static let libraries = Result { try MediaLibraries.prepare() }

  static func image(_ path: String, _ job: ImageJob, to output: String) throws -> ExportResult {
    try open(path) { try ImageExporter.export($0, job: job, to: output) }
  }

  static func video(
    _ path: String, _ job: VideoJob, to output: String, progress: @escaping (Double) -> Void = { _ in }
  ) throws -> ExportResult {
    try open(path) { try VideoExporter.export($0, job: job, to: output, progress: progress) }
  }

  static func audio(_ path: String, to output: String) throws -> ExportResult {
    try open(path) { try AudioExporter.export($0, to: output) { _ in } }
  }

  static func plan(_ path: String, _ job: ExportJob) throws -> PlannedExport {
    try open(path) { try ExportPlanner.plan($0, job: job) }
  }

  static func plan(_ path: String, _ job: ImageJob) throws -> ImagePlan {
    try open(path) { try ImageExporter.plan($0, job: job) }
  }

  static func poster(_ path: String, _ job: PosterJob = PosterJob(), to output: String) throws -> ExportResult {
    try open(path) { try PosterExporter.poster($0, job: job, to: output) }
  }

  static func thumbnail(
    _ path: String, _ job: ThumbnailJob = ThumbnailJob(), to output: String
  ) throws -> ExportResult {
    try open(path) { try PosterExporter.thumbnail($0, job: job, to: output) }
  }

  static func probe(_ path: String) throws -> MediaFacts { try open(path) { try Prober.probe($0) } }

  static func open<T>(_ path: String, _ body: (MediaInput) throws -> T) throws -> T {
    try libraries.get()
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    return try body(MediaInput(descriptor: descriptor, name: (path as NSString).lastPathComponent))
  }
}
