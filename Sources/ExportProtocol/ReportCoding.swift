public import JSON
import TaskModel

extension ExportReport {
  private enum Kind: String, CaseIterable {
    case progress, done, failed, probed, planned
  }

  public var json: JSONValue {
    var object = JSONObject([("id", .int(id))])
    switch self {
    case .progress(_, let fraction):
      object["report"] = .string(Kind.progress.rawValue)
      object["fraction"] = .double(fraction)
    case .done(_, let result):
      object["report"] = .string(Kind.done.rawValue)
      object["mime"] = .string(result.mime)
      object["size"] = .int(result.size)
      object["width"] = result.width.map(JSONValue.int)
      object["height"] = result.height.map(JSONValue.int)
      object["durationMs"] = result.durationMs.map(JSONValue.int)
      object["rung"] = .string(result.rung)
      object["encodes"] = .int(result.encodes)
      object["blurhash"] = result.blurhash.map(JSONValue.string)
    case .failed(_, let failure):
      object["report"] = .string(Kind.failed.rawValue)
      object["code"] = .string(failure.code.rawValue)
      object["message"] = .string(failure.message)
      object["remedy"] = .string(failure.remedy.rawValue)
    case .probed(_, let facts):
      object["report"] = .string(Kind.probed.rawValue)
      object["kind"] = .string(facts.kind.rawValue)
      object["mime"] = .string(facts.mime)
      object["width"] = facts.width.map(JSONValue.int)
      object["height"] = facts.height.map(JSONValue.int)
      object["durationMs"] = facts.durationMs.map(JSONValue.int)
    case .planned(_, let plan):
      object["report"] = .string(Kind.planned.rawValue)
      for member in plan.json.members { object[member.name] = member.value }
    }
    return .object(object)
  }

  /// - Throws: `JSONShapeError`.
  public init(_ reader: JSONReader) throws(JSONShapeError) {
    var fields = try reader.object()
    let id = try fields.required("id").int(in: Int64.min...Int64.max)
    switch try fields.required("report").oneOf(Kind.self) {
    case .progress:
      let fraction = try fields.required("fraction")
      guard let value = fraction.value.double, (0...1).contains(value) else {
        throw fraction.error("expected a number from 0 to 1")
      }
      self = .progress(id: id, fraction: value)
    case .done:
      self = .done(
        id: id,
        ExportResult(
          mime: try fields.required("mime").nonEmptyString(), size: try fields.required("size").int(),
          width: try fields.pixels("width"), height: try fields.pixels("height"),
          durationMs: try fields.optional("durationMs")?.int(), rung: try fields.required("rung").nonEmptyString(),
          encodes: Int(try fields.required("encodes").int(in: 0...1_000)),
          blurhash: try fields.optional("blurhash")?.nonEmptyString()))
    case .failed:
      self = .failed(
        id: id,
        Failure(
          FailureCode(rawValue: try fields.required("code").nonEmptyString()),
          try fields.required("message").string(), remedy: try fields.required("remedy").oneOf(Remedy.self)))
    case .probed:
      self = .probed(
        id: id,
        MediaFacts(
          kind: try fields.required("kind").oneOf(MediaFacts.Kind.self),
          mime: try fields.required("mime").nonEmptyString(), width: try fields.pixels("width"),
          height: try fields.pixels("height"), durationMs: try fields.optional("durationMs")?.int()))
    case .planned:
      self = .planned(
        id: id,
        PlannedExport(
          try fields.required("action").oneOf(PlannedExport.Action.self),
          rung: try fields.optional("rung")?.nonEmptyString(), width: try fields.pixels("width"),
          height: try fields.pixels("height"), estimatedBytes: try fields.optional("estimatedBytes")?.int(),
          reason: try fields.required("reason").nonEmptyString()))
    }
    try fields.finish()
  }
}

extension JSONFields {
  fileprivate mutating func pixels(_ name: String) throws(JSONShapeError) -> Int? {
    try optional(name)?.int(in: 0...Int64(Int32.max)).asInt
  }
}

extension Int64 {
  fileprivate var asInt: Int { Int(self) }
}
