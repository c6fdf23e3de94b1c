import TaskModel

typealias UploadProgress = @Sendable (Int64) -> Void

/// One upload of one file to one place, as the server of a protocol sees it. A new protocol is one new file with a type of
/// this kind and one line in `UploadProtocol.endpoint`. Each call ends in a value, a `Failure`, or `CancellationError`.
protocol UploadEndpoint: Sendable {
  /// Creates the upload, or finds the one that was begun.
  /// - Returns: how many bytes the server has. Its answer is the truth.
  func begin() async throws -> Int64

  /// Sends bytes from `offset` on, as many as the protocol sends at once.
  /// - Parameter progress: told how many bytes of the whole file have gone out.
  /// - Returns: how many bytes the server has now.
  func append(from offset: Int64, progress: @escaping UploadProgress) async throws -> Int64

  /// Makes the object visible, once all is there.
  func finish() async throws -> UploadResult

  /// Takes back what was begun, as well as it can: after a cancel, or a failure for good.
  func abort() async
}

enum UploadRun {
  static func run(
    _ endpoint: some UploadEndpoint, size: Int64, progress: @escaping UploadProgress
  ) async throws -> UploadResult {
    do {
      var offset = try await endpoint.begin()
      // An empty file needs its request too.
      repeat {
        try Task.checkCancellation()
        offset = try await endpoint.append(from: offset, progress: progress)
      } while offset < size
      try Task.checkCancellation()
      return try await endpoint.finish()
    } catch {
      await endpoint.abort()
      throw error
    }
  }
}
