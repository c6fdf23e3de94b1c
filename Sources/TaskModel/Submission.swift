public import JSON

/// What a submitter asks for, of the right types but not yet looked at.
public struct Submission: Sendable, Hashable {
  public var key: String?
  public var account: String
  public var kind: TaskKind
  public var lane: String?
  public var destination: String?
  public var payload: JSONValue?
  public var resources: [ResourceDraft]
  public var partial: PartialPolicy
  public var minResources: Int?
  public var urgency: Urgency?
  /// Milliseconds since 1970.
  public var notBefore: Int64?
  public var isDraft: Bool

  public init(kind: TaskKind, resources: [ResourceDraft], account: String = "default") {
    self.kind = kind
    self.resources = resources
    self.account = account
    partial = .fail
    isDraft = false
  }

  /// Canonical JSON of everything but the key: the same key with another content is a conflict. Digits that a double can't
  /// hold stay, or two ids of 64 bits would be one.
  public var content: String { CanonicalJSON.text(contentJSON, keepingDigits: true) }

  private var contentJSON: JSONValue {
    var object = JSONObject([
      ("account", .string(account)), ("kind", .string(kind.rawValue)), ("partial", .string(partial.rawValue)),
      ("resources", .array(resources.map(\.json))), ("draft", .bool(isDraft)),
    ])
    object["lane"] = lane.map(JSONValue.string)
    object["destination"] = destination.map(JSONValue.string)
    object["payload"] = payload
    object["minResources"] = minResources.map(JSONValue.int)
    object["priority"] = urgency.map { .string($0.rawValue) }
    object["notBefore"] = notBefore.map(JSONValue.int)
    return .object(object)
  }
}

public struct ResourceDraft: Sendable, Hashable {
  public var role: ResourceRole?
  public var source: Source
  public var name: String?
  /// What else is to be made of it and sent as resources of their own: `poster`, `thumbnail`.
  public var derive: [ResourceRole]
  public init(source: Source, role: ResourceRole? = nil, name: String? = nil, derive: [ResourceRole] = []) {
    self.source = source
    self.role = role
    self.name = name
    self.derive = derive
  }

  public var json: JSONValue {
    var object = JSONObject([("source", source.submitted)])
    object["role"] = role.map { .string($0.rawValue) }
    object["name"] = name.map(JSONValue.string)
    if !derive.isEmpty { object["export"] = ["derive": .array(derive.map { .string($0.rawValue) })] }
    return .object(object)
  }
}

extension Source {
  /// As the submitter said it.
  public var submitted: JSONValue {
    if case .url(let url, _) = self { ["url": .string(url)] } else { json }
  }
}
