import Dispatch
import Glibc
import Synchronization
import TaskConfig
import TaskEngine

/// Reads the config again at SIGHUP. A broken one changes nothing, and is told on stderr and in `engine/status`.
final class Reload: Sendable {
  private let read: @Sendable () throws -> Config
  private let engine: Engine
  private let config: CurrentConfig
  private let clients: Clients
  private let log: Log
  private let notice = Mutex<String?>(nil)

  init(
    engine: Engine, config: CurrentConfig, clients: Clients, log: Log, read: @escaping @Sendable () throws -> Config
  ) {
    self.engine = engine
    self.config = config
    self.clients = clients
    self.log = log
    self.read = read
  }

  /// Listens for as long as the result is kept.
  func listen() -> any DispatchSourceSignal {
    signal(SIGHUP, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: DispatchQueue(label: "taskcenter.reload"))
    source.setEventHandler { @Sendable [self] in reload() }
    source.resume()
    return source
  }

  private func reload() {
    do {
      config.value = try read()
      clients.update(config.value)
      engine.configChanged()
      tell(nil)
      log(.info, "the config was read again")
    } catch {
      let message = "the config is broken, the old one stays: \(error)"
      log(.error, message)
      tell(message)
    }
  }

  private func tell(_ message: String?) {
    let old = notice.withLock { notice in
      defer { notice = message }
      return notice
    }
    if let old { engine.status.remove(notice: old) }
    if let message { engine.status.add(notice: message) }
  }
}
