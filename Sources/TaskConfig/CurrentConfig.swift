import Synchronization

/// The config that counts now, shared by everybody who works by it; another one may take its place at any time.
public final class CurrentConfig: Sendable {
  private let config: Mutex<Config>

  public init(_ config: Config) { self.config = Mutex(config) }

  public var value: Config {
    get { config.withLock { $0 } }
    set { config.withLock { $0 = newValue } }
  }
}
