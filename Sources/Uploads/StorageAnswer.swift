import Answers
import HTTP
import TaskModel

/// What storage means by its answer. Beyond the status, S3 and what looks like it name a code in an XML document, also
/// under a 200.
enum StorageAnswer {
  /// nil for success.
  static func failure(_ response: HTTPResponse, host: String) -> Failure? {
    let byStatus = StatusMap.failure(response, host: host, from: .storage)
    guard let code = errorCode(response.body) else { return byStatus }
    func failure(_ failureCode: FailureCode, _ message: String, _ remedy: Remedy) -> Failure {
      Failure(
        failureCode, "\(host) \(message) (\(code))", remedy: remedy, httpStatus: response.status,
        retryAfterMs: response.retryAfterMs, heldOrigin: response.retryAfterMs == nil ? nil : response.origin)
    }
    switch code {
    case "NoSuchUpload": return failure(.uploadLost, "does not know the upload any more", .restart)
    // Complete names parts that it has not, or not so: what it has is looked at.
    case "InvalidPart": return failure(.integrityMismatch, "has other parts than it said", .resume)
    case "BadDigest", "XAmzContentSHA256Mismatch":
      return failure(.integrityMismatch, "got other bytes than were exported", .restart)
    case "ExpiredToken", "RequestExpired", "TokenRefreshRequired", "RequestTimeTooSkewed", "InvalidToken":
      return failure(.forbidden, "does not accept the upload credential any more", .refreshCredential)
    case "RequestTimeout": return failure(.timedOut, "waited too long for the request", .retry)
    case "InternalError", "ServiceUnavailable", "SlowDown", "OperationAborted", "ConditionalRequestConflict":
      return failure(.unavailable, "is out of order at the moment", .retry)
    default: return byStatus ?? failure(.rejected, "answered with an error", .giveUp)
    }
  }

  /// A PUT that was answered by a page for people, as the network of a hotel does, went nowhere. Not so a form, nor a 201
  /// (Apache says "Created" on a page).
  static func page(_ response: HTTPResponse, host: String) -> Failure? {
    response.status == 200 ? WebPage.failure(response, host: host) : nil
  }

  /// Its tag says that it has other bytes than went out.
  static func otherBytes(_ host: String) -> Failure {
    Failure(.integrityMismatch, "\(host) has other bytes than were exported, by its ETag", remedy: .restart)
  }

  /// The text of `<Code>` in a document whose root is `<Error>`; a short word, else nil.
  static func errorCode(_ body: [UInt8]) -> String? {
    // White space keeps the connection alive while parts are joined, and may be any.
    let document = body.drop { $0 <= 0x20 }
    guard document.first == UInt8(ascii: "<") else { return nil }
    let text = String(decoding: document.prefix(4_096), as: UTF8.self)
    guard let root = text.firstRange(of: "<Error>") ?? text.firstRange(of: "<Error "),
      !text[..<root.lowerBound].contains("<html"),
      let open = text[root.upperBound...].firstRange(of: "<Code>"),
      let close = text[open.upperBound...].firstRange(of: "</Code>")
    else { return nil }
    let code = text[open.upperBound..<close.lowerBound]
    return (1...64).contains(code.count) && code.allSatisfy { $0.isASCII && $0.isLetter || $0.isNumber }
      ? String(code) : nil
  }
}

extension Failure {
  /// What arrived is not what was sent.
  var isBadDigest: Bool { code == .integrityMismatch && remedy == .restart && self != UploadFile.changed }
}
