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
    var source: Source
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
          throw EngineError.invalidSource(failure, pointer: "/resources/\(index)/source/path")
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

  private static func look(
    at source: Source, index: Int, isArchive: Bool
  ) throws -> Found {
    switch source {
    case .url(let url, _):
      guard !isArchive else {
        throw EngineError.invalidSubmission(
          pointer: "/resources/\(index)/source/url", message: "a log takes files and folders by path")
      }
      if let problem = SourceURL.problem(with: url) {
        throw EngineError.invalidSubmission(pointer: "/resources/\(index)/source/url", message: problem)
      }
      return Found(source: source)
    case .kept where isArchive:
      throw EngineError.invalidSubmission(
        pointer: "/resources/\(index)/source/keep", message: "a log is read when its turn comes, not kept")
    case .path(let path), .kept(let path, _):
      let pointer = "/resources/\(index)/source/path"
      try check(path, pointer)
      return try named(pointer) { () throws(Failure) in
        if isArchive {
          try ArchiveMember.check(path)
          return Found(source: source, type: .unknown)
        }
        let file = try SourceFile.open(path)
        guard file.identity.size > 0 else {
          throw Failure(.damaged, "\(path) is empty", remedy: .needsUser)
        }
        return Found(source: source, type: try file.type(), identity: file.identity)
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
      return Found(source: source, type: .unknown)
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
