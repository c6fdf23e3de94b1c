import Synchronization
import TaskConfig
import TaskModel

/// The config that counts now; another one may take its place while the engine runs.
final class EngineSettings: Sendable {
  private let current: Mutex<Config>

  init(_ config: Config) { current = Mutex(config) }

  var config: Config {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }
  var retry: RetryPolicy { current.withLock { $0.retry } }
}
