public import HTTP
import Platform
public import TaskConfig
public import TaskModel

/// Publishes tasks the way their destination wants it.
public final class DeliveryService: Deliverer {
  private let config: CurrentConfig
  private let http: HTTPClient
  private let frontEnds: any FrontEnds
  private let now: @Sendable () -> Int64

  /// - Parameter now: milliseconds since 1970, for the journal's `at`; nil: the system's clock.
  public init(config: CurrentConfig, http: HTTPClient, frontEnds: any FrontEnds, now: (@Sendable () -> Int64)? = nil) {
    self.config = config
    self.http = http
    self.frontEnds = frontEnds
    self.now = now ?? { SystemTime.wallMs() }
  }

  public func deliver(_ task: SendTask, mode: DeliveryMode) async throws -> String? {
    let config = config.value
    switch try config.destination(of: task).delivery {
    case .journal(let path):
      try await JournalDelivery(path: path, now: now).deliver(task, mode: mode)
      return nil
    case .frontEnd: return try await FrontEndDelivery(frontEnds: frontEnds).deliver(task, mode: mode)
    case .http(let target):
      return try await HTTPDelivery(target: target, http: http, settings: config.uploads).deliver(task)
    }
  }
}
