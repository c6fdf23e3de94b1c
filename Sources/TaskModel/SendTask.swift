public import JSON

/// One send: a list of resources plus where it stands. A plain value; `TaskStateMachine` alone changes its state.
public struct SendTask: Sendable, Hashable {
  /// Sortable by time of creation (UUID version 7, RFC 9562 section 5.7).
  public typealias ID = String

  public let id: ID
  /// Order of submit over the whole store; order of delivery within a lane.
  public var sequence: Int64
  /// The submitter's own token: the same key never makes two tasks.
  public var key: String?
  public let account: String
  public let kind: TaskKind
  public let lane: String
  public let destination: String
  public var state: TaskState
  public var partial: PartialPolicy
  /// With `partial: publish`, the least number of resources worth publishing.
  public var minResources: Int
  public var urgency: Urgency
  public var notBefore: Int64?
  public var payload: JSONValue?
  public var resources: [Resource]

  /// Number of the current or latest attempt; 0 before the first.
  public var attempt: Int
  /// Attempts that ended without success and without progress since the user last asked.
  public var failedAttempts: Int
  public var nextAttemptAt: Int64?
  public var waitingFor: WaitReason?
  /// Since when it has been trying, for `expired`.
  public var pendingSince: Int64
  /// Deliveries that went out, or were about to, and of which no answer tells what became of them.
  public var deliveriesInDoubt: Int
  /// A cancel came while a delivery was in the air.
  public var cancelRequested: Bool
  /// Whether this attempt has put a resource at its URL.
  public var hasProgressed: Bool
  public var failure: Failure?
  public var remoteId: String?
  /// What was last said to front ends, as of the last transition: 0 to 1.
  public var progress: Double

  /// Milliseconds since 1970, as every time here.
  public let createdAt: Int64
  public var updatedAt: Int64
  public var finishedAt: Int64?

  public init(
    id: ID, sequence: Int64 = 0, key: String? = nil, account: String, kind: TaskKind, lane: String,
    destination: String, state: TaskState, partial: PartialPolicy = .fail, minResources: Int = 1, urgency: Urgency,
    notBefore: Int64? = nil, payload: JSONValue? = nil, resources: [Resource], createdAt: Int64
  ) {
    self.id = id
    self.sequence = sequence
    self.key = key
    self.account = account
    self.kind = kind
    self.lane = lane
    self.destination = destination
    self.state = state
    self.partial = partial
    self.minResources = minResources
    self.urgency = urgency
    self.notBefore = notBefore
    self.payload = payload
    self.resources = resources
    attempt = 0
    failedAttempts = 0
    pendingSince = max(createdAt, notBefore ?? 0)
    deliveriesInDoubt = 0
    cancelRequested = false
    hasProgressed = false
    progress = 0
    self.createdAt = createdAt
    updatedAt = createdAt
  }

  /// Lanes belong to an account: two accounts never hold each other back.
  public var laneID: LaneID { LaneID(account: account, name: lane) }

  public var uploadedCount: Int { resources.count { $0.isDone } }

  /// Whether no export is still to come.
  public var isExported: Bool { resources.allSatisfy { $0.isDone || $0.export != nil || $0.state == .failed } }
}

public struct LaneID: Sendable, Hashable {
  public let account: String
  public let name: String
  public init(account: String, name: String) {
    self.account = account
    self.name = name
  }
}
