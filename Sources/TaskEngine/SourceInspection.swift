import Dispatch
import MediaTypes
import Platform
import SourceFiles
import TaskModel

/// What a submission's sources are, found by opening each of them once.
struct SourceInspection: Sendable {
  /// As submitted, but with everything of a `log` in one archive.
  let submission: Submission
  /// Nil for what has not been fetched yet.
  let types: [MediaType?]
  let identities: [SourceIdentity?]
  /// Files of the store that were made for it.
  var copies: [String] { submission.resources.compactMap(\.source.file) }

  private struct Found {
    var type: MediaType?
    var identity: SourceIdentity?
  }

  private static let queue = DispatchQueue(label: "taskcenter.sources")

  /// Looks at the files away from the engine's threads: a network mount may take its time.
  /// - Throws: `EngineError.invalidSource` or `.invalidSubmission`, naming the place.
  static func inspect(_ submission: Submission, keeper: any SourceKeeper) async throws -> SourceInspection {
    let found = try await Blocking.run(on: queue) { _ in
      try submission.resources.enumerated().map { index, draft in
        try look(at: draft.source, index: index, isArchive: submission.kind == .log)
      }
    }
    if submission.kind == .log, !submission.resources.isEmpty { return archive(submission) }
    return try await copied(
      SourceInspection(submission: submission, types: found.map(\.type), identities: found.map(\.identity)), keeper)
  }

  /// With a private copy of every file that is to be kept. Made last: nothing is copied for a submit that is refused.
  private static func copied(
    _ inspection: SourceInspection, _ keeper: any SourceKeeper
  ) async throws -> SourceInspection {
    var submission = inspection.submission
    var identities = inspection.identities
    do {
      for (index, draft) in submission.resources.enumerated() {
        guard case .kept(let path, _) = draft.source else { continue }
        do {
          let copy = try await keeper.copy(path)
          submission.resources[index].source = copy.source
          identities[index] = copy.identity
        } catch let failure as Failure {
          throw EngineError.invalidSource(failure, pointer: pointer(index, "path"))
        }
      }
      return SourceInspection(submission: submission, types: inspection.types, identities: identities)
    } catch {
      for file in submission.resources.compactMap(\.source.file) { keeper.remove(file) }
      throw error
    }
  }

  func name(of index: Int) -> String {
    let draft = submission.resources[index]
    if case .url(let url, _) = draft.source { return FileName.safe(draft.name ?? SourceURL.name(of: url)) }
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

  private static func look(at source: Source, index: Int, isArchive: Bool) throws -> Found {
    func refused(_ field: String, _ message: String) -> EngineError {
      .invalidSubmission(pointer: pointer(index, field), message: message)
    }
    switch source {
    case .url where isArchive: throw refused("url", "a log takes files and folders by path")
    case .url(let url, _):
      if let problem = SourceURL.problem(with: url) { throw refused("url", problem) }
      return Found()
    case .kept where isArchive: throw refused("keep", "a log is read when its turn comes, not kept")
    case .path(let path) where isArchive:
      try checkMember(path, pointer(index, "path"))
      return Found(type: .unknown)
    case .path(let path), .kept(let path, _): return try lookAtFile(path, pointer(index, "path"))
    case .paths where !isArchive: throw refused("paths", "only a log takes several paths in one resource")
    case .paths(let paths):
      guard !paths.isEmpty else { throw refused("paths", "must not be empty") }
      for (number, path) in paths.enumerated() { try checkMember(path, pointer(index, "paths/\(number)")) }
      return Found(type: .unknown)
    }
  }

  /// A JSON pointer into the submission.
  private static func pointer(_ index: Int, _ field: String) -> String { "/resources/\(index)/source/\(field)" }

  private static func lookAtFile(_ path: String, _ pointer: String) throws -> Found {
    try check(path, pointer)
    return try named(pointer) { () throws(Failure) in
      let file = try SourceFile.open(path)
      guard file.identity.size > 0 else { throw Failure(.damaged, "\(path) is empty", remedy: .needsUser) }
      return Found(type: try file.type(), identity: file.identity)
    }
  }

  private static func checkMember(_ path: String, _ pointer: String) throws {
    try check(path, pointer)
    try named(pointer) { () throws(Failure) in try ArchiveMember.check(path) }
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
