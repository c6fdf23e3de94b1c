/// What a task sends. A kind is a profile of defaults; the strings are stored and said on the wire.
public enum TaskKind: String, Sendable, CaseIterable {
  case feedPost, chatVideo, message, avatar, log
}

/// What a lane does with a submit while it is busy (docs/lifecycle.md).
public enum BusyPolicy: Sendable {
  /// Wait in submit order.
  case queue
  /// Refuse the newcomer with `laneBusy`.
  case reject
  /// The newcomer cancels who is on the way.
  case replace
}

/// How soon a task's turn comes when slots are short.
public enum Urgency: String, Sendable, CaseIterable {
  case interactive, normal, background

  /// Lower goes first.
  public var rank: Int {
    switch self {
    case .interactive: 0
    case .normal: 1
    case .background: 2
    }
  }
}

/// What happens to a task of which a piece can't be sent.
public enum PartialPolicy: String, Sendable, CaseIterable {
  /// Nothing is published while a piece is missing.
  case fail
  /// Publish what made it, and name the rest.
  case publish
}

extension TaskKind {
  /// The lane where the submitter names none.
  public var defaultLane: String {
    switch self {
    case .feedPost: "feed"
    case .chatVideo, .message: "chat"
    case .avatar: "avatar"
    case .log: "log"
    }
  }

  public var busyPolicy: BusyPolicy {
    switch self {
    case .feedPost: .reject
    case .avatar: .replace
    case .chatVideo, .message, .log: .queue
    }
  }

  public var defaultUrgency: Urgency {
    switch self {
    case .chatVideo, .message, .avatar: .interactive
    case .feedPost: .normal
    case .log: .background
    }
  }
}
