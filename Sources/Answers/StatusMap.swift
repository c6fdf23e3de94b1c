public import HTTP
public import TaskModel

/// What an answer, or its lack, means for a send. Pure; nobody above looks at status codes.
///
/// | answer | meaning |
/// |---|---|
/// | 2xx | success |
/// | 408, 423, 425, 429, other 5xx | the same again later, `Retry-After` obeyed |
/// | 413 with `Retry-After` | the same again later |
/// | 401, 403 | storage: a fresh credential is wanted; the service: `forbidden` |
/// | 507 | `insufficientStorage`: permanent until somebody makes room |
/// | 3xx, other 4xx, 501 | `rejected`, permanent |
public enum StatusMap {
  /// Who answered: storage, to which credentials are issued, or the business service, which issues them.
  public enum Answerer: Sendable {
    case storage, service
  }

  /// nil for success.
  public static func failure(
    status: Int, retryAfterMs: Int64? = nil, origin: String? = nil, host: String, from answerer: Answerer
  ) -> Failure? {
    func failure(_ code: FailureCode, _ message: String, _ remedy: Remedy) -> Failure {
      Failure(
        code, "\(host) \(message)", remedy: remedy, httpStatus: status, retryAfterMs: retryAfterMs,
        heldOrigin: retryAfterMs == nil ? nil : origin)
    }
    switch status {
    case 200..<300: return nil
    case 401, 403:
      return switch answerer {
      case .storage: failure(.forbidden, "does not accept the upload credential (\(status))", .refreshCredential)
      case .service: failure(.forbidden, "does not allow this (\(status)): sign in again?", .needsUser)
      }
    case 408: return failure(.timedOut, "waited too long for the request (408)", .retry)
    case 423: return failure(.unavailable, "has it locked at the moment (423)", .retry)
    case 425, 429: return failure(.unavailable, "asks for fewer requests (\(status))", .retry)
    case 413 where retryAfterMs != nil: return failure(.unavailable, "has no room at the moment (413)", .retry)
    case 413: return failure(.rejected, "says that the file is too large (413)", .giveUp)
    case 507: return failure(.insufficientStorage, "has no storage left (507)", .needsUser)
    case 501: return failure(.rejected, "does not know how to do this (501)", .giveUp)
    case 500..<600: return failure(.unavailable, "is out of order at the moment (\(status))", .retry)
    default: return failure(.rejected, "refused the request (\(status))", .giveUp)
    }
  }

  /// nil for success.
  public static func failure(_ response: HTTPResponse, host: String, from answerer: Answerer) -> Failure? {
    failure(
      status: response.status, retryAfterMs: response.retryAfterMs, origin: response.origin, host: host, from: answerer)
  }

  private static func untrusted(_ error: HTTPError) -> Failure {
    Failure(
      .tlsFailed,
      "\(error.message). Is the clock right? For a certificate authority of your own, name its PEM file in uploads.caFile",
      remedy: .needsUser)
  }

  public static func failure(_ error: HTTPError) -> Failure {
    if error.code == .tlsUntrusted { return untrusted(error) }
    let (code, remedy): (FailureCode, Remedy) =
      switch error.code {
      case .couldNotResolve, .couldNotConnect, .connectTimedOut: (.unreachable, .retry)
      case .stalled, .timedOut: (.timedOut, .retry)
      case .connectionLost: (.unavailable, .retry)
      case .tlsHandshake: (.tlsFailed, .retry)
      case .tlsUntrusted: (.tlsFailed, .needsUser)
      // The export is no longer what it was: it has to be made again.
      case .fileShrank, .fileUnreadable: (.integrityMismatch, .restart)
      case .badResponse: (.badAnswer, .retry)
      case .responseTooLarge: (.badAnswer, .giveUp)
      case .tooManyRedirects, .badRedirect, .badURL, .badHeader: (.rejected, .giveUp)
      case .outOfResources, .sinkFailed: (.internalError, .retry)
      case .held: (.unavailable, .retry)
      }
    return Failure(
      code, error.message, remedy: remedy, retryAfterMs: error.retryAfterMs, heldOrigin: error.origin,
      isOffline: error.isOffline, isUntried: error.code == .held)
  }
}
