public import JSON
public import TaskModel

// What can be asked of the engine, one small type per method. Decoding is strict: an unknown or wrong parameter is an error
// that names its place. Names are `noun/verb`; verbs are those of the state machine.

public protocol Request: Sendable {
  static var method: String { get }
  /// - Throws: `JSONShapeError` naming what is wrong, and where.
  init(_ fields: inout JSONFields) throws(JSONShapeError)
  var params: JSONValue { get }
}

/// A request about one task and nothing else.
public protocol TaskRequest: Request {
  var id: SendTask.ID { get }
  init(id: SendTask.ID)
}

extension TaskRequest {
  public init(_ fields: inout JSONFields) throws(JSONShapeError) { self.init(id: try fields.required("id").string()) }
  public var params: JSONValue { ["id": .string(id)] }
}

public struct GetTask: TaskRequest {
  public static let method = "task/get"
  public let id: SendTask.ID
  public init(id: SendTask.ID) { self.id = id }
}

public struct StartTask: TaskRequest {
  public static let method = "task/start"
  public let id: SendTask.ID
  public init(id: SendTask.ID) { self.id = id }
}

public struct CancelTask: TaskRequest {
  public static let method = "task/cancel"
  public let id: SendTask.ID
  public init(id: SendTask.ID) { self.id = id }
}

public struct RetryTask: TaskRequest {
  public static let method = "task/retry"
  public let id: SendTask.ID
  public init(id: SendTask.ID) { self.id = id }
}

public struct PauseTask: TaskRequest {
  public static let method = "task/pause"
  public let id: SendTask.ID
  public init(id: SendTask.ID) { self.id = id }
}

public struct ResumeTask: TaskRequest {
  public static let method = "task/resume"
  public let id: SendTask.ID
  public init(id: SendTask.ID) { self.id = id }
}

public struct DeleteTask: TaskRequest {
  public static let method = "task/delete"
  public let id: SendTask.ID
  public init(id: SendTask.ID) { self.id = id }
}

public struct TaskHistory: TaskRequest {
  public static let method = "task/history"
  public let id: SendTask.ID
  public init(id: SendTask.ID) { self.id = id }
}

/// Answers when the task is final, or as it is when the time is up.
public struct WaitTask: Request {
  public static let method = "task/wait"
  public let id: SendTask.ID
  /// Milliseconds; absent: as long as it takes.
  public let timeoutMs: Int64?

  public init(id: SendTask.ID, timeoutMs: Int64? = nil) {
    self.id = id
    self.timeoutMs = timeoutMs
  }

  public init(_ fields: inout JSONFields) throws(JSONShapeError) {
    id = try fields.required("id").string()
    timeoutMs = try fields.int("timeoutMs")
  }

  public var params: JSONValue {
    var object = JSONObject([("id", .string(id))])
    object["timeoutMs"] = timeoutMs.map(JSONValue.int)
    return .object(object)
  }
}

/// Optional for a front end that offers no capability.
public struct Initialize: Request {
  public static let method = "initialize"
  public let clientName: String?
  public let clientVersion: String?
  public let capabilities: Capabilities

  public init(clientName: String?, clientVersion: String?, capabilities: Capabilities = Capabilities()) {
    self.capabilities = capabilities
    self.clientName = clientName
    self.clientVersion = clientVersion
  }

  public init(_ fields: inout JSONFields) throws(JSONShapeError) {
    var name: String?
    var version: String?
    if let reader = fields.optional("clientInfo") {
      var info = try reader.object()
      name = try info.text("name")
      version = try info.text("version")
      try info.finish()
    }
    capabilities = try fields.optional("capabilities").map(Capabilities.init) ?? Capabilities()
    clientName = name
    clientVersion = version
  }

  public var params: JSONValue {
    var info = JSONObject()
    info["name"] = clientName.map(JSONValue.string)
    info["version"] = clientVersion.map(JSONValue.string)
    return ["clientInfo": .object(info), "capabilities": capabilities.json]
  }
}

public struct Shutdown: Request {
  public static let method = "shutdown"
  public init() {}
  public init(_ fields: inout JSONFields) throws(JSONShapeError) {}
  public var params: JSONValue { .object(JSONObject()) }
}

public struct EngineStatus: Request {
  public static let method = "engine/status"
  public init() {}
  public init(_ fields: inout JSONFields) throws(JSONShapeError) {}
  public var params: JSONValue { .object(JSONObject()) }
}

public struct Unsubscribe: Request {
  public static let method = "event/unsubscribe"
  public let subscription: Int64
  public init(subscription: Int64) { self.subscription = subscription }
  public init(_ fields: inout JSONFields) throws(JSONShapeError) {
    subscription = try fields.required("subscription").int()
  }
  public var params: JSONValue { ["subscription": .int(subscription)] }
}

/// Notification from the front end: it knows more about the network than the engine does.
public struct NetworkChanged: Request {
  public static let method = "network/changed"
  public let isOnline: Bool
  public init(_ fields: inout JSONFields) throws(JSONShapeError) { isOnline = try fields.required("online").bool() }
  public var params: JSONValue { ["online": .bool(isOnline)] }
}

extension JSONFields {
  mutating func text(_ name: String) throws(JSONShapeError) -> String? {
    guard let reader = optional(name) else { return nil }
    return try reader.string()
  }

  mutating func nonEmptyText(_ name: String) throws(JSONShapeError) -> String? {
    guard let reader = optional(name) else { return nil }
    return try reader.nonEmptyString()
  }

  mutating func int(_ name: String, in range: ClosedRange<Int64> = 0...Int64.max) throws(JSONShapeError) -> Int64? {
    guard let reader = optional(name) else { return nil }
    return try reader.int(in: range)
  }

  mutating func word<T: RawRepresentable & CaseIterable>(
    _ name: String
  ) throws(JSONShapeError) -> T? where T.RawValue == String {
    guard let reader = optional(name) else { return nil }
    return try reader.oneOf(T.self)
  }
}
