import JSON
import TaskModel

/// Asks a front end for credentials: `credential/issue`, with the request and the answer of the HTTP service.
struct FrontEndIssuer: Sendable {
  let frontEnds: any FrontEnds

  /// - Throws: `Failure`, or `CancellationError`.
  func ask(_ body: CredentialRequest) async throws -> CredentialAnswer {
    let answer = try await frontEnds.ask(
      "credential/issue", body.json, of: .credentials, account: body.places["account"] ?? "")
    do {
      return try CredentialAnswer.parse(answer)
    } catch {
      throw Failure(.badAnswer, "the front end sent credentials of the wrong shape: \(error)", remedy: .giveUp)
    }
  }
}
