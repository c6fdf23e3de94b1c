public import HTTP
public import JSON
import Synchronization
public import TaskConfig
public import TaskModel

/// Brings exports to the storage of their task's destination.
public final class UploadService: Uploader {
  private let config: Mutex<Config>
  private let http: HTTPClient
  private let exportsFolder: String
  private let clock: any Clock
  private let frontEnds: any FrontEnds

  /// - Parameters:
  ///   - exportsFolder: where exports lie, by absolute path.
  public init(
    config: Config, http: HTTPClient, exportsFolder: String, clock: any Clock, frontEnds: any FrontEnds
  ) {
    self.config = Mutex(config)
    self.http = http
    self.exportsFolder = exportsFolder
    self.clock = clock
    self.frontEnds = frontEnds
  }

  /// For sessions from now on; those that run keep what they began with.
  public func update(_ config: Config) { self.config.withLock { $0 = config } }

  public func session(for task: SendTask) throws -> any UploadSession {
    let config = config.withLock { $0 }
    guard let destination = config.destinations[task.destination] else {
      throw Failure(.rejected, "the config has no destination \"\(task.destination)\"", remedy: .needsUser)
    }
    switch destination.credential {
    case .directory(let path): return DirectorySession(root: path, exportsFolder: exportsFolder)
    case .http(let target):
      let issuer = CredentialIssuer(target: target, http: http, settings: config.uploads)
      return session(config) { try await issuer.ask($0, for: $1) }
    case .frontEnd:
      let issuer = FrontEndIssuer(frontEnds: frontEnds)
      return session(config) { try await issuer.ask($0, for: $1) }
    }
  }

  private func session(_ config: Config, ask: @escaping CredentialBroker.Ask) -> CredentialSession {
    let broker = CredentialBroker(clock: clock, ask: ask)
    return CredentialSession(broker: broker, http: http, settings: config.uploads, exportsFolder: exportsFolder)
  }

  /// Neither protocol of today leaves anything behind.
  public func abandon(_ state: JSONValue, destination: String) async throws {}
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
