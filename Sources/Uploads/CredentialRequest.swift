import JSON
import TaskModel

/// What the service is told when it is asked for credentials (design section 11). Pure.
struct CredentialRequest: Sendable {
  /// The resources that it names.
  let indexes: Set<Int>
  let json: JSONValue

  /// Names the resources that still lack a URL; one that has no export has no digests to name.
  /// - Parameter known: what has a credential already.
  init(_ task: SendTask, isRenewal: Bool, except known: Set<Int> = []) {
    let wanted = task.resources.compactMap { resource in
      resource.isDone || known.contains(resource.index) ? nil : resource.export.map { (resource, $0) }
    }
    indexes = Set(wanted.map { $0.0.index })
    var object = JSONObject([("taskId", .string(task.id))])
    object["key"] = task.key.map(JSONValue.string)
    object["account"] = .string(task.account)
    object["kind"] = .string(task.kind.rawValue)
    object["attempt"] = .int(task.attempt)
    if isRenewal { object["renew"] = .bool(true) }
    object["resources"] = .array(wanted.map { .object(Self.object($0.0, $0.1)) })
    json = .object(object)
  }

  private static func object(_ resource: Resource, _ export: ExportedFile) -> JSONObject {
    var object = JSONObject([
      ("index", .int(resource.index)), ("role", .string(resource.role.rawValue)), ("name", .string(resource.name)),
      ("mime", .string(export.mime)), ("size", .int(export.size)), ("md5", .string(export.md5)),
      ("sha256", .string(export.sha256)),
    ])
    object["derivedFrom"] = resource.derivedFrom.map(JSONValue.int)
    object["width"] = export.width.map(JSONValue.int)
    object["height"] = export.height.map(JSONValue.int)
    object["durationMs"] = export.durationMs.map(JSONValue.int)
    return object
  }
}
