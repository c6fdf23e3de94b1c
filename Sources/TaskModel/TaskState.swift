/// Where a task stands. The same list is in the SQL CHECK and in docs/lifecycle.md; a test compares the three.
public enum TaskState: String, Sendable, CaseIterable {
  /// Kept, not sent. Next: queued, canceled.
  case draft
  /// Its turn has not come yet. Next: exporting, paused, canceled, failed (a cancel in doubt).
  case queued
  /// Resources are being made ready; the first ones may already go up. Next: uploading, retrying, failed, paused, canceled.
  case exporting
  /// Every resource is exported, some have no remote URL yet; or all have one and the lane is not free yet.
  /// Next: delivering, retrying, failed, paused, canceled.
  case uploading
  /// The intent to deliver is durable and the delivery may be in the air. Next: sent, retrying, failed, canceled.
  case delivering
  /// Waits for time or network after a transient failure. Next: queued, failed (expired), paused, canceled.
  case retrying
  /// The user holds it. Next: queued, canceled.
  case paused
  /// The service confirmed it. Final.
  case sent
  /// It ended without being sent and can be resent. Next: queued, canceled.
  case failed
  /// The user took it back. Final.
  case canceled

  /// Nothing more happens without a user. Exactly these have a `finishedAt`.
  public var isFinal: Bool { self == .sent || self == .failed || self == .canceled }

  /// Whether work of this state can be under way in a living engine; a dead engine's tasks in it need rescue.
  public var isRunning: Bool { self == .exporting || self == .uploading || self == .delivering }

  /// Whether a task in this state keeps later tasks of its lane from being delivered.
  public var holdsLane: Bool { !isFinal && self != .draft && self != .paused }

  /// The edges of the diagram in docs/lifecycle.md.
  public var successors: Set<TaskState> {
    switch self {
    case .draft: [.queued, .canceled]
    case .queued: [.exporting, .paused, .canceled, .failed]
    case .exporting: [.uploading, .retrying, .failed, .paused, .canceled, .queued]
    case .uploading: [.delivering, .retrying, .failed, .paused, .canceled, .queued]
    case .delivering: [.sent, .retrying, .failed, .canceled, .queued]
    case .retrying: [.queued, .failed, .paused, .canceled]
    case .paused: [.queued, .canceled, .failed]
    case .failed: [.queued, .canceled]
    case .sent, .canceled: []
    }
  }
}

/// Where one resource stands. It is done if and only if it has a remote URL.
public enum ResourceState: String, Sendable, CaseIterable {
  case pending, exporting, exported, uploading, uploaded, failed
}

/// What a task waits for while nothing of it runs.
public enum WaitReason: String, Sendable, CaseIterable {
  case slot, lane, backoff, host, network, frontEnd, notBefore
}
