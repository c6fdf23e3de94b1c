public import HTTP
public import JSON
import Synchronization
public import TaskConfig
public import TaskModel

/// Brings exports to the storage of their task's destination.
public final class UploadService: Uploader {
  private let config: CurrentConfig
  private let http: HTTPClient
  private let exportsFolder: String
  private let clock: any Clock
  private let clocks = ServerClocks()
  private let tusServers = TusServers()
  private let lender = Mutex<(any SlotLender)?>(nil)
  private let frontEnds: any FrontEnds

  /// - Parameters:
  ///   - config: each session keeps what it began with.
  ///   - exportsFolder: where exports lie, by absolute path.
  public init(
    config: CurrentConfig, http: HTTPClient, exportsFolder: String, clock: any Clock, frontEnds: any FrontEnds
  ) {
    self.config = config
    self.http = http
    self.exportsFolder = exportsFolder
    self.clock = clock
    self.frontEnds = frontEnds
  }

  /// Large uploads may use slots that nobody else wants, from now on.
  public func borrow(from lender: any SlotLender) { self.lender.withLock { $0 = lender } }

  public func session(for task: SendTask) throws -> any UploadSession {
    let config = config.value
    let destination = try config.destination(of: task)
    if case .directory(let path) = destination.credential {
      return DirectorySession(root: path, exportsFolder: exportsFolder)
    }
    guard let ask = try issuer(for: destination.credential, config) else {
      throw Failure(.rejected, "nobody issues credentials for \"\(task.destination)\"", remedy: .needsUser)
    }
    return CredentialSession(
      broker: CredentialBroker(clock: clock, ask: ask), tools: tools(config), exportsFolder: exportsFolder)
  }

  public func abandon(_ state: JSONValue, destination name: String) async throws {
    guard let state = UploadState(state) else { return }
    let config = config.value
    let issuer = try issuer(for: config.destinations[name]?.credential, config)
    try await UploadProtocol.abandon(state, tools(config)) {
      guard let issuer, let request = CredentialRequest(renewing: state) else { return nil }
      return try await issuer(request).uploads.first?.value
    }
  }

  private func tools(_ config: Config) -> UploadTools {
    UploadTools(
      http: http, settings: config.uploads, clock: clock, clocks: clocks, tusServers: tusServers,
      lender: lender.withLock { $0 })
  }

  /// Who gives credentials; nil where nobody is asked.
  private func issuer(for source: CredentialSource?, _ config: Config) throws -> CredentialBroker.Ask? {
    switch source {
    case .directory, nil: return nil
    case .fixed(let upload):
      let issuer = StaticIssuer(upload: upload)
      return { issuer.answer($0) }
    case .frontEnd:
      let issuer = FrontEndIssuer(frontEnds: frontEnds)
      return { try await issuer.ask($0) }
    case .http(let target):
      let issuer = HTTPIssuer(target: target, http: http, settings: config.uploads, clock: clock)
      return { try await issuer.ask($0) }
    }
  }
}

extension Resource {
  /// - Throws: `Failure`, at this resource.
  func finishedExport() throws(Failure) -> ExportedFile {
    guard let export else {
      throw Failure(.internalError, "resource \(index) is not exported yet", remedy: .restart, resource: index)
    }
    return export
  }
}
