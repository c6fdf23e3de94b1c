public import JSON
public import TaskModel

/// Which tasks are meant; absent parts do not narrow.
public struct FilterParams: Sendable, Hashable {
  public var account: String?
  public var kind: TaskKind?
  public var lane: String?
  public var key: String?
  public var states: [TaskState]?
  public var ids: [SendTask.ID]?
  public init() {}

  /// - Parameter known: the members that this method's filter has.
  init(_ reader: JSONReader?, known: Set<String>) throws(JSONShapeError) {
    guard let reader else { return }
    var fields = try reader.object()
    account = try fields.text("account")
    kind = try fields.word("kind")
    lane = try fields.text("lane")
    if known.contains("key") { key = try fields.text("key") }
    if known.contains("state"), let list = fields.optional("state") {
      var states: [TaskState] = []
      for state in try list.array() { states.append(try state.oneOf(TaskState.self)) }
      self.states = states
    }
    if known.contains("ids"), let list = fields.optional("ids") {
      var ids: [SendTask.ID] = []
      for id in try list.array() { ids.append(try id.string()) }
      self.ids = ids
    }
    try fields.finish()
  }

  var json: JSONValue {
    var object = JSONObject()
    object["account"] = account.map(JSONValue.string)
    object["kind"] = kind.map { .string($0.rawValue) }
    object["lane"] = lane.map(JSONValue.string)
    object["key"] = key.map(JSONValue.string)
    object["state"] = states.map { .array($0.map { .string($0.rawValue) }) }
    object["ids"] = ids.map { .array($0.map(JSONValue.string)) }
    return .object(object)
  }
}

/// Newest first, in pages, and only the fields that are wanted.
public struct ListTasks: Request {
  public static let method = "task/list"
  public var filter = FilterParams()
  public var fields: [String]?
  public var limit: Int?
  /// As an earlier page gave it.
  public var cursor: String?

  public init() {}

  public init(_ parameters: inout JSONFields) throws(JSONShapeError) {
    filter = try FilterParams(parameters.optional("filter"), known: ["key", "state"])
    if let list = parameters.optional("fields") {
      var names: [String] = []
      for reader in try list.array() {
        let name = try reader.string()
        guard SendTask.fieldNames.contains(name) else {
          throw reader.error("unknown field \"\(name)\"; known: " + SendTask.fieldNames.joined(separator: ", "))
        }
        names.append(name)
      }
      fields = names
    }
    limit = try parameters.int("limit", in: 1...1_000).map(Int.init)
    if let reader = parameters.optional("cursor") {
      let text = try reader.string()
      guard Int64(text) != nil else { throw reader.error("is no cursor of task/list") }
      cursor = text
    }
  }

  public var params: JSONValue {
    var object = JSONObject([("filter", filter.json)])
    object["fields"] = fields.map { .array($0.map(JSONValue.string)) }
    object["limit"] = limit.map(JSONValue.int)
    object["cursor"] = cursor.map(JSONValue.string)
    return .object(object)
  }
}

/// The snapshot, and then every change after it.
public struct Subscribe: Request {
  public static let method = "event/subscribe"
  public var filter = FilterParams()
  /// A cursor: what was missed since then comes first.
  public var since: Int64?
  public var progressIntervalMs: Int64?

  public init() {}

  public init(_ fields: inout JSONFields) throws(JSONShapeError) {
    filter = try FilterParams(fields.optional("filter"), known: ["ids"])
    since = try fields.int("since")
    progressIntervalMs = try fields.int("progressIntervalMs", in: 0...3_600_000)
  }

  public var params: JSONValue {
    var object = JSONObject([("filter", filter.json)])
    object["since"] = since.map(JSONValue.int)
    object["progressIntervalMs"] = progressIntervalMs.map(JSONValue.int)
    return .object(object)
  }
}
