import Answers
import Dispatch
import Glibc
public import HTTP
import MediaTypes
import Platform
import SourceFiles
public import TaskConfig
public import TaskModel

/// Sources that lie in the store: what was fetched from a URL, and private copies.
public final class FetchService: SourceKeeper {
  private let folder: String
  private let http: HTTPClient
  private let config: CurrentConfig

  private static let queue = DispatchQueue(label: "taskcenter.fetches", attributes: .concurrent)
  static let maximumRedirects = 5

  /// - Parameters:
  ///   - folder: of the files, made by the caller.
  ///   - http: one of its own: its thread writes what comes in, and a slow disk must not hold back uploads.
  public init(folder: String, config: CurrentConfig, http: HTTPClient) {
    self.folder = folder
    self.http = http
    self.config = config
  }

  // MARK: Fetching

  public func fetch(_ resource: Resource, of task: SendTask) async throws -> SourceRefresh {
    guard case .url(let url, _) = resource.source else {
      throw Failure(.internalError, "resource \(resource.index) has no URL", remedy: .giveUp)
    }
    let part = PartialFile(folder: folder, task: task.id, index: resource.index)
    do {
      try await download(url, into: part)
      let file = RandomName.make()
      let path = "\(folder)/\(file)"
      let (identity, type) = try await Blocking.run(on: Self.queue) { [folder] _ in
        try part.finish(as: path)
        try Folder.sync(folder)
        let found = try SourceFile.open(path)
        return (found.identity, try found.type())
      }
      do throws(Failure) {
        try Self.check(type, size: identity.size, for: resource.role)
      } catch {
        remove(file)
        throw error
      }
      return SourceRefresh(source: .url(url, file: file), identity: identity, mime: type.mime)
    } catch let failure as Failure {
      if failure.isPermanent { part.remove() }
      throw failure
    } catch let error as SystemError {
      throw KeepingFailure.of(error)
    }
  }

  /// The same that is checked at submit where the file is at hand.
  private static func check(_ type: MediaType, size: Int64, for role: ResourceRole) throws(Failure) {
    guard size > 0 else { throw Failure(.damaged, "what was fetched is empty", remedy: .needsUser) }
    guard type.fits(role) else {
      throw Failure(
        .unsupported, "what was fetched is no \(role.rawValue) (found \(type.mime) by its bytes)", remedy: .needsUser)
    }
  }

  private func download(_ url: String, into part: PartialFile) async throws {
    // A part that does not fit what is there now is dropped, once; then there is none that could not fit.
    for isLast in [false, true] {
      let start = try await Blocking.run(on: Self.queue) { _ in try part.open() }
      let sink = DownloadSink(part, start, maxBytes: config.value.sources.maxBytes)
      let response: HTTPResponse
      do {
        response = try await http.send(request(url, start, sink))
      } catch let error as HTTPError {
        if sink.wantsToStartOver, !isLast {
          part.remove()
          continue
        }
        throw sink.failure ?? FetchAnswer.failure(error)
      }
      if response.status == 416, !isLast {
        part.remove()
        continue
      }
      if let failure = FetchAnswer.failure(response, host: HTTPRequest("GET", url: url).host) { throw failure }
      try sink.checkWhole()
      return
    }
  }

  private func request(_ url: String, _ start: PartialFile.Start, _ sink: DownloadSink) -> HTTPRequest {
    // The bytes as they are stored: a compressed answer could not be gone on with.
    var headers = [HTTPHeader("Accept", "*/*"), HTTPHeader("Accept-Encoding", "identity")]
    if let tag = start.tag, start.size > 0 {
      headers.append(HTTPHeader("Range", "bytes=\(start.size)-"))
      headers.append(HTTPHeader("If-Range", tag))
    }
    var request = HTTPRequest("GET", url: url, headers: headers)
    request.setPatience(config.value.uploads)
    request.maximumRedirects = Self.maximumRedirects
    request.sink = sink
    return request
  }

  // MARK: Private copies

  public func copy(_ path: String) async throws -> SourceRefresh {
    let file = RandomName.make()
    let target = "\(folder)/\(file)"
    do {
      return try await Blocking.run(on: Self.queue) { [folder] flag in
        let source = try SourceFile.open(path)
        let type = try source.type()
        let copy = try OpenFile(path: target, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        let count = try FileCopy.copy(source.file, to: copy, flag)
        try source.verifyUnchanged()
        guard count == source.identity.size else {
          throw Failure(.sourceChanged, "the file changed while it was copied", remedy: .needsUser)
        }
        try copy.sync()
        try Folder.sync(folder)
        return SourceRefresh(
          source: .kept(path: path, file: file), identity: try SourceFile.open(target).identity, mime: type.mime)
      }
    } catch {
      unlink(target)
      if let error = error as? SystemError { throw KeepingFailure.of(error) }
      throw error
    }
  }

  // MARK: Finished files

  public func has(_ file: String) -> Bool { (try? FileStatus.of(path: "\(folder)/\(file)"))?.isRegular ?? false }

  public func remove(_ file: String) { unlink("\(folder)/\(file)") }

  public func forget(_ task: SendTask) {
    for resource in task.resources {
      if case .url = resource.source { PartialFile(folder: folder, task: task.id, index: resource.index).remove() }
    }
  }

  public func sweep(keeping files: Set<String>, tasks: Set<SendTask.ID>) {
    for name in (try? Folder.entries(of: folder)) ?? [] where !files.contains(name) {
      if let task = PartialFile.task(ofName: name), tasks.contains(task) { continue }
      remove(name)
    }
  }
}

/// Why a source can't be kept.
enum KeepingFailure {
  static func of(_ error: SystemError) -> Failure {
    error.isDiskFull
      ? Failure(.diskFull, "there is no space left for the source", remedy: .needsUser)
      : Failure(.internalError, "the source can't be kept: \(error.reason)", remedy: .retry)
  }
}
