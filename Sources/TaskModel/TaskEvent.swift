public import JSON

/// What happened, as told to `TaskStateMachine`.
public enum TaskEvent: Sendable, Hashable {
  // From the user
  case start
  /// Try again, with the sources as they are now: what was found of each resource that is not done.
  case retry([Int: SourceRefresh])
  case cancel
  case pause
  case resume
  case update(TaskChange)

  // From the scheduler
  case turnCame
  case wake
  /// A new engine found it running in a store whose engine is dead.
  case rescued

  // From the work of one attempt
  /// A source that was elsewhere lies in the store now.
  case sourceFetched(Int, SourceRefresh)
  case exportStarted(Int)
  case exportFinished(Int, ExportedFile)
  /// A finished export is not there any more, or not whole.
  case exportLost(Int)
  case uploadStarted(Int)
  /// What the upload needs to go on from here.
  case uploadSaved(Int, JSONValue)
  /// What the upload had saved is of no use to anybody.
  case uploadDiscarded(Int)
  case uploadFinished(Int, UploadResult)
  case stepFailed(Int, Failure)
  /// Nothing of this attempt runs any more.
  case workEnded

  // From the delivery
  case deliveryStarted
  case delivered(remoteId: String?)
  case deliveryFailed(Failure)
}

/// What a user changes about a task; nil: nothing.
public struct TaskChange: Sendable, Hashable {
  /// In place of the whole payload.
  public var payload: JSONValue?
  public var urgency: Urgency?
  /// Milliseconds since 1970; 0 or a time that has passed: at once.
  public var notBefore: Int64?
  public init(payload: JSONValue? = nil, urgency: Urgency? = nil, notBefore: Int64? = nil) {
    self.payload = payload
    self.urgency = urgency
    self.notBefore = notBefore
  }
}

/// A source as it is at a user's retry, or once it has been fetched or copied.
public struct SourceRefresh: Sendable, Hashable {
  public var source: Source
  public var identity: SourceIdentity?
  public var mime: String
  public init(source: Source, identity: SourceIdentity?, mime: String) {
    self.source = source
    self.identity = identity
    self.mime = mime
  }
}

/// What is to be done next. Plain data: it can be printed, compared and stored.
public enum TaskAction: Sendable, Hashable {
  case export(Int)
  case upload(Int)
  /// Everything is up: deliver as soon as the lane lets it.
  case awaitLane
  case deliver(DeliveryMode)
  /// Whatever runs for this task must end now.
  case stopWork
  /// No task state refers to this file any more.
  case removeExport(ExportedFile)
  /// The same of a file in the store's `sources/`.
  case removeSource(String)
}

/// One step of a task or of one of its resources, for the history.
public struct Transition: Sendable, Hashable {
  public var resource: Int?
  public var from: String
  public var to: String
  public var failure: Failure?

  public init(resource: Int? = nil, from: String, to: String, failure: Failure? = nil) {
    self.resource = resource
    self.from = from
    self.to = to
    self.failure = failure
  }
}

/// An event that a task in this state does not take (`invalidState`).
public struct InvalidTransition: Error, Sendable, Equatable {
  public let state: TaskState
  public let event: String
}
