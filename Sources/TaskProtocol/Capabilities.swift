public import JSON
public import TaskModel

/// What a front end offers to do for the engine.
public struct Capabilities: Sendable, Hashable {
  /// Kinds that it takes `delivery/perform` for.
  public var deliver: Set<TaskKind>
  /// Whether it takes `credential/issue`.
  public var credentials: Bool
  /// For these accounts only; nil for all.
  public var accounts: Set<String>?

  public init(deliver: Set<TaskKind> = [], credentials: Bool = false, accounts: Set<String>? = nil) {
    self.deliver = deliver
    self.credentials = credentials
    self.accounts = accounts
  }

  public var isEmpty: Bool { deliver.isEmpty && !credentials }

  /// Members that this version does not know are let pass: a front end may be newer.
  /// - Throws: `JSONShapeError`.
  init(_ reader: JSONReader) throws(JSONShapeError) {
    self.init()
    var fields = try reader.object()
    if let reader = fields.optional("deliver") {
      if let all = reader.value.bool {
        deliver = all ? Set(TaskKind.allCases) : []
      } else {
        for kind in try reader.array() { deliver.insert(try kind.oneOf(TaskKind.self)) }
      }
    }
    credentials = try fields.optional("credentials")?.bool() ?? false
    if let reader = fields.optional("accounts") {
      var names: Set<String> = []
      for name in try reader.array() { names.insert(try name.nonEmptyString()) }
      accounts = names
    }
  }

  var json: JSONValue {
    var object = JSONObject()
    if !deliver.isEmpty { object["deliver"] = .array(deliver.map(\.rawValue).sorted().map(JSONValue.string)) }
    if credentials { object["credentials"] = true }
    object["accounts"] = accounts.map { .array($0.sorted().map(JSONValue.string)) }
    return .object(object)
  }
}
