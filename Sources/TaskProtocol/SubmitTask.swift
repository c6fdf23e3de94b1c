public import JSON
public import TaskModel

/// Hands in one send; answered when it is durable.
public struct SubmitTask: Request {
  public static let method = "task/submit"
  public let submission: Submission

  public init(_ submission: Submission) { self.submission = submission }

  public init(_ fields: inout JSONFields) throws(JSONShapeError) {
    let kind = try fields.required("kind").oneOf(TaskKind.self)
    var resources: [ResourceDraft] = []
    for reader in try fields.optional("resources")?.array() ?? [] { resources.append(try SubmitTask.resource(reader)) }
    var submission = Submission(kind: kind, resources: resources)
    submission.key = try fields.nonEmptyText("key")
    submission.account = try fields.nonEmptyText("account") ?? "default"
    submission.lane = try fields.nonEmptyText("lane")
    submission.destination = try fields.nonEmptyText("destination")
    if let payload = fields.optional("payload") {
      _ = try payload.object()
      submission.payload = payload.value
    }
    submission.partial = try fields.word("partial") ?? .fail
    submission.minResources = try fields.int("minResources", in: 1...1_000).map(Int.init)
    submission.urgency = try fields.word("priority")
    submission.notBefore = try fields.int("notBefore")
    submission.isDraft = try fields.optional("draft")?.bool() ?? false
    self.submission = submission
  }

  static func resource(_ reader: JSONReader) throws(JSONShapeError) -> ResourceDraft {
    var fields = try reader.object()
    let role: ResourceRole? = try fields.word("role")
    let name = try fields.nonEmptyText("name")
    let derive = try derivedRoles(&fields)
    var sourceFields = try fields.required("source").object()
    let source: Source
    if let path = sourceFields.optional("path") {
      source = .path(try path.nonEmptyString())
    } else if let paths = sourceFields.optional("paths") {
      var list: [String] = []
      for path in try paths.array() { list.append(try path.nonEmptyString()) }
      source = .paths(list)
    } else {
      try sourceFields.finish()
      throw sourceFields.error("needs a path, or for a log paths")
    }
    try sourceFields.finish()
    try fields.finish()
    return ResourceDraft(source: source, role: role, name: name, derive: derive)
  }

  private static func derivedRoles(_ fields: inout JSONFields) throws(JSONShapeError) -> [ResourceRole] {
    guard var export = try fields.optional("export")?.object() else { return [] }
    var roles: [ResourceRole] = []
    for reader in try export.optional("derive")?.array() ?? [] {
      let role = try reader.oneOf(ResourceRole.self)
      guard role.isDerived else { throw reader.error("must be poster or thumbnail") }
      roles.append(role)
    }
    try export.finish()
    return roles
  }

  public var params: JSONValue {
    var object = JSONObject([("kind", .string(submission.kind.rawValue)), ("account", .string(submission.account))])
    object["key"] = submission.key.map(JSONValue.string)
    object["lane"] = submission.lane.map(JSONValue.string)
    object["destination"] = submission.destination.map(JSONValue.string)
    object["payload"] = submission.payload
    object["resources"] = .array(submission.resources.map(\.json))
    if submission.partial != .fail { object["partial"] = .string(submission.partial.rawValue) }
    object["minResources"] = submission.minResources.map(JSONValue.int)
    object["priority"] = submission.urgency.map { .string($0.rawValue) }
    object["notBefore"] = submission.notBefore.map(JSONValue.int)
    if submission.isDraft { object["draft"] = true }
    return .object(object)
  }
}
