import JSON
import TaskModel

/// What is published: the JSON of docs/server-contract.md, pure. Holds the fields that exist and no others, and remote URLs only:
/// neither a path of a source nor the name of an export.
enum DeliveryBody {
  static func json(_ task: SendTask) -> JSONObject {
    var object = JSONObject([("taskId", .string(task.id))])
    object["key"] = task.key.map(JSONValue.string)
    object["account"] = .string(task.account)
    object["kind"] = .string(task.kind.rawValue)
    object["lane"] = .string(task.lane)
    object["attempt"] = .int(task.attempt)
    object["payload"] = task.payload
    object["resources"] = .array(task.resources.filter { isWanted($0, task) }.compactMap(resource))
    object["failed"] = .array(task.resources.compactMap(failed))
    return object
  }

  /// A poster without its video is nothing.
  private static func isWanted(_ resource: Resource, _ task: SendTask) -> Bool {
    resource.derivedFrom.map { task.resources[$0].isDone } ?? true
  }

  private static func resource(_ resource: Resource) -> JSONValue? {
    guard let url = resource.url else { return nil }
    var object = JSONObject([
      ("index", .int(resource.index)), ("role", .string(resource.role.rawValue)), ("url", .string(url)),
    ])
    object["derivedFrom"] = resource.derivedFrom.map(JSONValue.int)
    object["blurhash"] = resource.export?.blurhash.map(JSONValue.string)
    guard let receipt = resource.receipt else {
      object["name"] = .string(resource.name)
      return .object(object)
    }
    // As text: its bytes are what the service checks, and what it may have been signed over.
    object["receipt"] = .string(receipt.text)
    object["mime"] = .string(receipt.mime)
    object["size"] = .int(receipt.size)
    object["width"] = receipt.width.map(JSONValue.int)
    object["height"] = receipt.height.map(JSONValue.int)
    object["durationMs"] = receipt.durationMs.map(JSONValue.int)
    object["name"] = .string(receipt.name)
    return .object(object)
  }

  private static func failed(_ resource: Resource) -> JSONValue? {
    guard resource.url == nil, let failure = resource.failure else { return nil }
    return .object(
      JSONObject([
        ("index", .int(resource.index)), ("code", .string(failure.code.rawValue)),
        ("message", .string(failure.message)),
      ]))
  }
}
