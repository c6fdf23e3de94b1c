/// What went wrong, by a stable name. A struct and not an enum: a business service may name its own codes.
public struct FailureCode: RawRepresentable, Sendable, Hashable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  private init(_ rawValue: String) { self.rawValue = rawValue }

  /// A service's or a front end's own word. It is stored and shown: a short word, not whatever somebody may say.
  public init?(foreign word: String) {
    let isWord = word.utf8.allSatisfy {
      switch $0 {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."): true
      default: false
      }
    }
    guard isWord, (1...64).contains(word.utf8.count) else { return nil }
    rawValue = word
  }

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
  /// Whose wish that is, as scheme, host and port: nobody is to be sent there before.
  public var heldOrigin: String?
  /// Nothing was tried, because the host had asked to be left alone. Uses up no attempt.
  public var isUntried: Bool
  /// There was no network to try on: no route, DNS failure, connection refused or its timeout. Uses up no attempt.
  public var isOffline: Bool
  /// Nothing will help but a front end that attaches. Uses up no attempt.
  public var needsFrontEnd: Bool
  /// A delivery that may have happened although nobody said so.
  public var outcomeUnknown: Bool
  /// The server has more than before the step: an attempt with such a failure does not count.
  public var madeProgress = false

  public init(
    _ code: FailureCode, _ message: String, remedy: Remedy, resource: Int? = nil, httpStatus: Int? = nil,
    retryAfterMs: Int64? = nil, heldOrigin: String? = nil, isOffline: Bool = false, isUntried: Bool = false,
    needsFrontEnd: Bool = false, outcomeUnknown: Bool = false
  ) {
    self.code = code
    self.message = message
    self.remedy = remedy
    self.resource = resource
    self.httpStatus = httpStatus
    self.retryAfterMs = retryAfterMs
    self.heldOrigin = heldOrigin
    self.isOffline = isOffline
    self.needsFrontEnd = needsFrontEnd
    self.isUntried = isUntried
    self.outcomeUnknown = outcomeUnknown
  }

  public var isPermanent: Bool { remedy.isPermanent }

  /// Of words of others in `message`: they are kept in the history and told with every change.
  public static let longestForeignMessage = 500

  public func at(resource index: Int) -> Failure {
    var copy = self
    copy.resource = index
    return copy
  }
}
