public import JSON
public import TaskModel

/// Asks what exports would do, without doing or storing anything.
public struct PlanExport: Request {
  public static let method = "export/plan"
  public let kind: TaskKind
  public let resources: [ResourceDraft]

  public init(kind: TaskKind, resources: [ResourceDraft]) {
    self.kind = kind
    self.resources = resources
  }

  public init(_ fields: inout JSONFields) throws(JSONShapeError) {
    kind = try fields.required("kind").oneOf(TaskKind.self)
    var resources: [ResourceDraft] = []
    for reader in try fields.required("resources").array() { resources.append(try SubmitTask.resource(reader)) }
    self.resources = resources
  }

  public var params: JSONValue {
    ["kind": .string(kind.rawValue), "resources": .array(resources.map(\.json))]
  }
}
