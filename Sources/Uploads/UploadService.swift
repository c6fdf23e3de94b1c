public import HTTP
import Platform
import Synchronization
public import TaskConfig
public import TaskModel

/// Brings exports to the storage of their task's destination.
public final class UploadService: Uploader {
  private let config: Mutex<Config>
  private let http: HTTPClient
  private let exportsFolder: String
  private let now: @Sendable () -> Int64

  /// - Parameters:
  ///   - exportsFolder: where exports lie, by absolute path.
  ///   - now: milliseconds since 1970, for the expiry of credentials; nil: the system's clock.
  public init(
    config: Config, http: HTTPClient, exportsFolder: String, now: (@Sendable () -> Int64)? = nil
  ) {
    self.config = Mutex(config)
    self.http = http
    self.exportsFolder = exportsFolder
    self.now = now ?? { SystemTime.wallMs() }
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
      let broker = CredentialBroker(now: now) { try await issuer.ask($0, for: $1) }
      return CredentialSession(broker: broker, http: http, settings: config.uploads, exportsFolder: exportsFolder)
    }
  }

  public func uploadsEarly(_ task: SendTask) -> Bool {
    switch config.withLock({ $0.destinations[task.destination]?.credential }) {
    case .directory: true
    case .http, nil: false
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
