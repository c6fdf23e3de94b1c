import Answers
import HTTP
import TaskConfig

/// The engine's ways to the network. Downloads have one of their own: its thread writes what comes in, and a slow disk must
/// not hold back uploads.
struct Clients: Sendable {
  let uploads: HTTPClient
  let downloads: HTTPClient

  init(_ config: Config) {
    uploads = HTTPClient(HTTPClient.Settings(config, isPaced: true))
    downloads = HTTPClient(HTTPClient.Settings(config, isPaced: false))
  }

  func update(_ config: Config) {
    uploads.update(HTTPClient.Settings(config, isPaced: true))
    downloads.update(HTTPClient.Settings(config, isPaced: false))
  }

  func hold(_ origin: String, forMs: Int64) {
    for client in [uploads, downloads] { client.hold(origin, forMs: forMs) }
  }
}
