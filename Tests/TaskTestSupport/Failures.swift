public import TaskModel

/// The `Failure` that `body` throws, if it does.
public func failure<T>(_ body: () async throws -> T) async -> Failure? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? Failure
  }
}
