public import JSON
public import TaskModel

/// Nobody is attached.
public struct NoFrontEnds: FrontEnds {
  public init() {}

  public func ask(
    _ method: String, _ params: JSONValue, of capability: FrontEndCapability, account: String
  ) async throws -> JSONValue {
    throw Failure(.frontEndAbsent, "nobody is attached", remedy: .retry, needsFrontEnd: true)
  }
}
