import Dispatch
import MediaTypes
import Platform
import SourceFiles
import TaskModel

/// What a submission's sources are, found by opening each of them once.
struct SourceInspection: Sendable {
  /// As submitted, but with everything of a `log` in one archive.
  let submission: Submission
  let types: [MediaType]
  let identities: [SourceIdentity?]

  private static let queue = DispatchQueue(label: "taskcenter.sources")

  /// Looks at the files away from the engine's threads: a network mount may take its time.
  /// - Throws: `EngineError.invalidSource` or `.invalidSubmission`, naming the place.
  static func inspect(_ submission: Submission) async throws -> SourceInspection {
    try await Blocking.run(on: queue) { _ in
      let found = try submission.resources.enumerated().map { index, draft in
        try look(at: draft.source, index: index, isArchive: submission.kind == .log)
      }
      guard submission.kind == .log, !submission.resources.isEmpty else {
        return SourceInspection(
          submission: submission, types: found.map(\.type), identities: found.map(\.identity))
      }
      return archive(submission)
    }
  }

  func name(of index: Int) -> String {
    let draft = submission.resources[index]
    return FileName.safe(draft.name ?? draft.source.paths.first ?? "")
  }

  /// Whatever number of files and folders was submitted, a log is one zip.
  private static func archive(_ submission: Submission) -> SourceInspection {
    var merged = submission
    let paths = submission.resources.flatMap(\.source.paths)
    let name = submission.resources[0].name ?? FileName.safe(paths[0]) + ".zip"
    merged.resources = [ResourceDraft(source: .paths(paths), role: submission.resources[0].role, name: name)]
    return SourceInspection(
      submission: merged, types: [MediaType("application/zip", .other)], identities: [nil])
  }

  private static func look(
    at source: Source, index: Int, isArchive: Bool
  ) throws -> (type: MediaType, identity: SourceIdentity?) {
    switch source {
    case .path(let path):
      let pointer = "/resources/\(index)/source/path"
      try check(path, pointer)
      return try named(pointer) { () throws(Failure) in
        if isArchive {
          try ArchiveMember.check(path)
          return (.unknown, nil)
        }
        let file = try SourceFile.open(path)
        guard file.identity.size > 0 else {
          throw Failure(.damaged, "\(path) is empty", remedy: .needsUser)
        }
        return (try file.type(), file.identity)
      }
    case .paths(let paths):
      guard isArchive else {
        throw EngineError.invalidSubmission(
          pointer: "/resources/\(index)/source/paths", message: "only a log takes several paths in one resource")
      }
      guard !paths.isEmpty else {
        throw EngineError.invalidSubmission(
          pointer: "/resources/\(index)/source/paths", message: "must not be empty")
      }
      for (number, path) in paths.enumerated() {
        let pointer = "/resources/\(index)/source/paths/\(number)"
        try check(path, pointer)
        try named(pointer) { () throws(Failure) in try ArchiveMember.check(path) }
      }
      return (.unknown, nil)
    }
  }

  private static func check(_ path: String, _ pointer: String) throws {
    guard path.hasPrefix("/") else {
      throw EngineError.invalidSubmission(pointer: pointer, message: "must be an absolute path, found \"\(path)\"")
    }
    guard !path.utf8.contains(0) else {
      throw EngineError.invalidSubmission(pointer: pointer, message: "must not contain a NUL character")
    }
  }

  private static func named<T>(_ pointer: String, _ body: () throws(Failure) -> T) throws -> T {
    do { return try body() } catch { throw EngineError.invalidSource(error, pointer: pointer) }
  }
}
