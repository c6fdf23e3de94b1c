import Answers
import JSON
import TaskModel

/// What the service is told when it is asked for credentials (docs/server-contract.md). Pure.
struct CredentialRequest: Sendable {
  /// The resources that it names.
  let indexes: Set<Int>
  let json: JSONValue
  /// What fills the places of the service's URL.
  let places: [String: String]

  /// Names the resources that still lack a URL; one that has no export has no digests to name.
  /// An upload that was begun, by this attempt or another one, is named too, and makes it a renewal: what the service
  /// signs has to be for that very upload.
  /// - Parameters:
  ///   - known: what has a credential already.
  ///   - underWay: what uploads have saved, where it is newer than in the task.
  init(_ task: SendTask, isRenewal: Bool, except known: Set<Int> = [], underWay: [Int: UploadState?] = [:]) {
    let wanted = task.resources.compactMap { resource in
      resource.isDone || known.contains(resource.index) ? nil : resource.export.map { (resource, $0) }
    }
    indexes = Set(wanted.map { $0.0.index })
    var object = JSONObject([("taskId", .string(task.id))])
    object["key"] = task.key.map(JSONValue.string)
    object["account"] = .string(task.account)
    object["kind"] = .string(task.kind.rawValue)
    object["attempt"] = .int(task.attempt)
    let begun = wanted.map { resource, export in
      let state = underWay[resource.index] ?? UploadState(resource.uploadState)
      return state.map { $0.isOf(export) ? $0.underWay : [] } ?? []
    }
    if isRenewal || begun.contains(where: { !$0.isEmpty }) { object["renew"] = .bool(true) }
    object["resources"] = .array(
      zip(wanted, begun).map { wanted, begun in
        var resource = Self.object(wanted.0, wanted.1)
        for (name, value) in begun { resource[name] = value }
        return .object(resource)
      })
    json = .object(object)
    places = task.places
  }

  /// For one resource alone.
  init(_ task: SendTask, isRenewal: Bool, only index: Int) {
    self.init(task, isRenewal: isRenewal, except: Set(task.resources.map(\.index)).subtracting([index]))
  }

  /// Asks for an upload that was begun by a task that may not be there any more.
  /// - Parameter state: as `CredentialRequest` has named it then.
  init?(renewing state: UploadState) {
    guard var object = state.request, var resource = object["resources"]?.array?.first?.object,
      let index = resource["index"]?.int
    else { return nil }
    for (name, value) in state.underWay { resource[name] = value }
    object["renew"] = .bool(true)
    object["resources"] = .array([.object(resource)])
    indexes = [Int(index)]
    json = .object(object)
    places = ["kind", "account", "taskId"].reduce(into: [:]) { $0[$1] = object[$1]?.string }
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
