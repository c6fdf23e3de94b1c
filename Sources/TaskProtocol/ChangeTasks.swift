public import JSON
public import TaskModel

/// Changes a task that waits, is held, has failed, or is a draft.
public struct UpdateTask: Request {
  public static let method = "task/update"
  public let id: SendTask.ID
  public let change: TaskChange

  public init(id: SendTask.ID, _ change: TaskChange) {
    self.id = id
    self.change = change
  }

  public init(_ fields: inout JSONFields) throws(JSONShapeError) {
    id = try fields.required("id").string()
    var change = TaskChange()
    if let payload = fields.optional("payload") {
      _ = try payload.object()
      change.payload = payload.value
    }
    change.urgency = try fields.word("priority")
    change.notBefore = try fields.int("notBefore")
    self.change = change
  }

  public var params: JSONValue {
    var object = JSONObject([("id", .string(id))])
    object["payload"] = change.payload
    object["priority"] = change.urgency.map { .string($0.rawValue) }
    object["notBefore"] = change.notBefore.map(JSONValue.int)
    return .object(object)
  }
}

/// Cancels everything of an account and forgets its tasks.
public struct LogoutAccount: Request {
  public static let method = "account/logout"
  public let account: String

  public init(account: String) { self.account = account }

  public init(_ fields: inout JSONFields) throws(JSONShapeError) {
    account = try fields.required("account").nonEmptyString()
  }

  public var params: JSONValue { ["account": .string(account)] }
}

/// The description of this protocol, as an OpenRPC document (https://spec.open-rpc.org).
public struct Discover: Request {
  public static let method = "rpc.discover"
  public init() {}
  public init(_ fields: inout JSONFields) throws(JSONShapeError) {}
  public var params: JSONValue { .object(JSONObject()) }
}
