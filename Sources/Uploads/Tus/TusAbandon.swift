import JSON
import TaskModel

/// Takes a tus upload back (extension "termination"), from what was saved of it.
struct TusAbandon: Sendable {
  let fields: JSONObject
  let tools: UploadTools
  let credential: @Sendable () async throws -> UploadCredential?

  /// - Throws: `Failure` where it has to be tried again, or can't be done.
  func run() async throws {
    guard let url = fields["uploadUrl"]?.string else { return }
    do {
      try await delete(url, nil)
    } catch let failure as Failure where failure.code == .forbidden {
      guard case .tus(let fresh)? = try await credential() else { throw failure }
      try await delete(url, fresh)
    }
  }

  private func delete(_ url: String, _ credential: TusCredential?) async throws {
    let door = TusDoor(credential: credential, tools: tools)
    let response = try await door.call("DELETE", url)
    // Gone already, or a server without this extension, which forgets by itself.
    if [404, 405, 410, 501].contains(response.status) { return }
    guard var failure = door.failure(response, url) else { return }
    // Nobody renews a credential here but `run`, once.
    if failure.remedy == .refreshCredential { failure.remedy = .giveUp }
    throw failure
  }
}
