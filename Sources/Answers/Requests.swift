public import HTTP
public import JSON
public import TaskConfig
import TaskModel

// Requests as the config wants them, and how they are sent.

extension HTTPClient {
  /// As `send`, but what kept the answer away is a `Failure`.
  /// - Throws: `Failure`, or `CancellationError`: then the request may have arrived.
  public func ask(
    _ request: HTTPRequest, progress: (@Sendable (Int64) -> Void)? = nil
  ) async throws -> HTTPResponse {
    do {
      return try await send(request, progress: progress)
    } catch let error as HTTPError {
      throw StatusMap.failure(error)
    }
  }
}

extension HTTPClient.Settings {
  /// - Parameter isPaced: whether `uploads.bytesPerSecond` counts for the client.
  public init(_ config: Config, isPaced: Bool) {
    self.init(
      caFile: config.uploads.caFile, bytesPerSecond: isPaced ? config.uploads.bytesPerSecond : 0,
      longestHoldMs: RetryPolicy.longestWishMs)
  }
}

extension HTTPRequest {
  /// Waits for the server as long as the config says.
  public mutating func setPatience(_ settings: Config.Uploads) {
    stallTimeoutMs = settings.stallTimeoutMs
    connectTimeoutMs = settings.connectTimeoutMs
  }

  /// A POST of JSON to the business service.
  /// - Parameters:
  ///   - places: fill those of the target's URL.
  ///   - headers: count more than those of the config, as does the content's type.
  public init(
    posting json: JSONValue, to target: HTTPTarget, places: [String: String], headers: [HTTPHeader] = [],
    _ settings: Config.Uploads
  ) {
    let own = headers + [HTTPHeader("Content-Type", "application/json")]
    let names = Set(own.map { $0.name.lowercased() })
    let given = target.headers.filter { !names.contains($0.name.lowercased()) }.map { HTTPHeader($0.name, $0.value) }
    self.init(
      "POST", url: URLTemplate.fill(target.url, places), headers: given + own, body: .data(JSONWriter.bytes(json)))
    setPatience(settings)
  }
}
