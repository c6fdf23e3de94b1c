/// What went wrong, by a stable name. A struct and not an enum: a business service may name its own codes.
public struct FailureCode: RawRepresentable, Sendable, Hashable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  private init(_ rawValue: String) { self.rawValue = rawValue }

  // Source
  public static let sourceMissing = FailureCode("sourceMissing")
  public static let sourceChanged = FailureCode("sourceChanged")
  public static let sourceUnreadable = FailureCode("sourceUnreadable")
  public static let sourceNotRegular = FailureCode("sourceNotRegular")
  // Export
  public static let unsupported = FailureCode("unsupported")
  public static let damaged = FailureCode("damaged")
  public static let noVideo = FailureCode("noVideo")
  public static let tooManyPixels = FailureCode("tooManyPixels")
  public static let tooLarge = FailureCode("tooLarge")
  public static let exportCrashed = FailureCode("exportCrashed")
  public static let exportTimedOut = FailureCode("exportTimedOut")
  public static let diskFull = FailureCode("diskFull")
  // Upload
  public static let forbidden = FailureCode("forbidden")
  public static let rejected = FailureCode("rejected")
  public static let insufficientStorage = FailureCode("insufficientStorage")
  public static let uploadLost = FailureCode("uploadLost")
  public static let integrityMismatch = FailureCode("integrityMismatch")
  public static let tlsFailed = FailureCode("tlsFailed")
  public static let unavailable = FailureCode("unavailable")
  public static let unreachable = FailureCode("unreachable")
  public static let timedOut = FailureCode("timedOut")
  public static let badAnswer = FailureCode("badAnswer")
  // Delivery
  public static let refused = FailureCode("refused")
  public static let deliveryUnknown = FailureCode("deliveryUnknown")
  // Any
  public static let expired = FailureCode("expired")
  public static let attemptsExhausted = FailureCode("attemptsExhausted")
  /// Only an attached front end can do this, and none is.
  public static let frontEndAbsent = FailureCode("frontEndAbsent")
  public static let internalError = FailureCode("internalError")
}

/// What a failure calls for. Adapters map status codes and C codes to it; nobody above them looks at codes.
public enum Remedy: String, Sendable, CaseIterable {
  /// The same again, later.
  case retry
  /// Go on from what the server has.
  case resume
  /// Begin this step anew.
  case restart
  /// Ask the issuer for a fresh credential, then go on.
  case refreshCredential
  /// Permanent until a person changes something (picks another file, frees space, signs in).
  case needsUser
  /// Permanent: trying again is senseless.
  case giveUp

  public var isPermanent: Bool { self == .needsUser || self == .giveUp }
}

/// Why a step did not work, and what to do next.
public struct Failure: Error, Sendable, Hashable {
  public var code: FailureCode
  /// A sentence for a person; holds no secret.
  public var message: String
  public var remedy: Remedy
  /// Index of the resource that it is about.
  public var resource: Int?
  public var httpStatus: Int?
  /// The server's own wish (Retry-After), in milliseconds from now.
  public var retryAfterMs: Int64?
  /// There was no network to try on: no route, DNS failure, connection refused or its timeout. Uses up no attempt.
  public var isOffline: Bool
  /// Nothing will help but a front end that attaches. Uses up no attempt.
  public var needsFrontEnd: Bool
  /// A delivery that may have happened although nobody said so.
  public var outcomeUnknown: Bool

  public init(
    _ code: FailureCode, _ message: String, remedy: Remedy, resource: Int? = nil, httpStatus: Int? = nil,
    retryAfterMs: Int64? = nil, isOffline: Bool = false, needsFrontEnd: Bool = false, outcomeUnknown: Bool = false
  ) {
    self.code = code
    self.message = message
    self.remedy = remedy
    self.resource = resource
    self.httpStatus = httpStatus
    self.retryAfterMs = retryAfterMs
    self.isOffline = isOffline
    self.needsFrontEnd = needsFrontEnd
    self.outcomeUnknown = outcomeUnknown
  }

  public var isPermanent: Bool { remedy.isPermanent }

  public func at(resource index: Int) -> Failure {
    var copy = self
    copy.resource = index
    return copy
  }
}
