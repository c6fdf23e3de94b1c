import Foundation
import Testing

/// Reads the sources as text: what they import must be what docs/modules.md shows.
private enum Sources {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Imports of each target, by file.
  static func imports(of target: String) throws -> [(file: String, module: String)] {
    let folder = target == "taskcenter" ? "clients/taskcenter" : target == "TaskSchema" ? "schema" : "Sources/\(target)"
    let files = try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path)
    return try files.filter { $0.hasSuffix(".swift") }.flatMap { file in
      let text = try String(contentsOf: root.appendingPathComponent("\(folder)/\(file)"), encoding: .utf8)
      return text.split(separator: "\n").compactMap { line -> (String, String)? in
        let words = line.split(separator: " ")
        guard let index = words.firstIndex(of: "import"), index <= 1, words.count > index + 1 else { return nil }
        return ("\(folder)/\(file)", String(words[index + 1]))
      }
    }
  }

  /// The layers of docs/modules.md, top down: a target may import what stands below it, by the table.
  static let allowed: [String: Set<String>] = [
    "taskcenterd": [
      "Delivery", "Exports", "Fetches", "HTTP", "JSON", "Platform", "SQLite", "TaskConfig", "TaskEngine", "TaskModel",
      "TaskService", "TaskStorage", "Uploads",
    ],
    "taskcenter-export": [
      "ExportProtocol", "JSON", "LogArchive", "MediaExport", "Platform", "Sandbox", "TaskModel",
    ],
    "taskcenter": ["JSON", "JSONRPC", "MediaTypes", "Platform", "SourceFiles", "TaskModel", "TaskProtocol"],
    "TaskService": [
      "JSON", "JSONRPC", "Platform", "SQLite", "TaskEngine", "TaskModel", "TaskProtocol", "TaskStorage",
    ],
    "TaskProtocol": ["JSON", "JSONRPC", "TaskModel"],
    "TaskEngine": ["JSON", "MediaTypes", "Platform", "SourceFiles", "TaskConfig", "TaskModel", "TaskStorage"],
    "TaskStorage": ["JSON", "Platform", "SQLite", "TaskModel", "TaskSchema"],
    "TaskSchema": [],
    "Exports": ["Digest", "ExportProtocol", "JSON", "Platform", "SourceFiles", "TaskConfig", "TaskModel"],
    "Fetches": ["Answers", "HTTP", "MediaTypes", "Platform", "SourceFiles", "TaskConfig", "TaskModel"],
    "Uploads": ["Answers", "Digest", "HTTP", "JSON", "Platform", "TaskConfig", "TaskModel"],
    "Delivery": ["Answers", "HTTP", "JSON", "Platform", "TaskConfig", "TaskModel"],
    "Answers": ["HTTP", "JSON", "Platform", "TaskConfig", "TaskModel"],
    "MediaExport": ["ExportProtocol", "FFmpeg", "MediaTypes", "TaskModel", "Vips"],
    "LogArchive": ["Archive", "ExportProtocol", "MediaTypes", "TaskModel"],
    "ExportProtocol": ["JSON", "TaskModel"],
    "SourceFiles": ["MediaTypes", "Platform", "TaskModel"],
    "Archive": ["CArchive"], "Digest": ["CCrypto", "Platform"], "FFmpeg": ["CFFmpeg"], "HTTP": ["CCurl", "Platform"],
    "Sandbox": ["CSandbox"],
    "JSONRPC": ["JSON", "Platform"], "Platform": ["CPlatform"], "SQLite": ["CSQLite"], "Vips": ["CVips"],
    "TaskConfig": ["JSON", "Platform", "TaskModel"], "TaskModel": ["JSON"], "JSON": [],
    "MediaTypes": [],
  ]

  static let system: Set<String> = ["Glibc", "Dispatch", "Synchronization"]
}

@Suite("The dependency picture")
struct ArchitectureTests {
  @Test("a target imports only what stands below it", arguments: Sources.allowed.keys.sorted())
  func imports(_ target: String) throws {
    let found = try Sources.imports(of: target)
    let allowed = Sources.system.union(Sources.allowed[target] ?? [])
    for (file, module) in found { #expect(allowed.contains(module), "\(file) imports \(module)") }
  }

  @Test("every folder of Sources is in the picture")
  func complete() throws {
    let folders = try FileManager.default.contentsOfDirectory(
      atPath: Sources.root.appendingPathComponent("Sources").path)
    let swift = Set(folders.filter { !$0.hasPrefix("C") })
    #expect(swift.subtracting(Sources.allowed.keys) == [])
    let page = try String(contentsOf: Sources.root.appendingPathComponent("docs/modules.md"), encoding: .utf8)
    for target in Sources.allowed.keys { #expect(page.contains(target), "docs/modules.md does not name \(target)") }
  }

  @Test("a C module is imported by its façade alone, and only the worker's side reaches the media libraries")
  func facades() throws {
    for (target, modules) in Sources.allowed {
      let cModules = modules.filter { $0.hasPrefix("C") && Sources.allowed[$0] == nil }
      #expect(cModules.count <= 1, "\(target) stands above \(cModules)")
    }
    var reached: Set<String> = []
    var queue = ["taskcenterd"]
    while let target = queue.popLast() {
      guard reached.insert(target).inserted else { continue }
      queue += (Sources.allowed[target] ?? []).filter { !reached.contains($0) }
    }
    #expect(reached.isDisjoint(with: ["CFFmpeg", "CVips", "CArchive", "MediaExport", "LogArchive"]))
    #expect(reached.contains("CSQLite"))
  }
}
