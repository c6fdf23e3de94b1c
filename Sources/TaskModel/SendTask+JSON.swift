public import JSON

// A task as front ends see it (docs/protocol.md): absent means absent, never null. Holds no secret, and no path but the
// sources' own.

extension SendTask {
  /// The members that `json` may have.
  public static let fieldNames = [
    "id", "key", "account", "kind", "lane", "destination", "state", "progress", "phase", "priority", "attempt",
    "nextAttemptAt", "notBefore", "waitingFor", "createdAt", "updatedAt", "finishedAt", "payload", "resources",
    "failure",
    "result",
  ]

  public var json: JSONValue {
    var object = JSONObject([("id", .string(id))])
    object["key"] = key.map(JSONValue.string)
    object["account"] = .string(account)
    object["kind"] = .string(kind.rawValue)
    object["lane"] = .string(lane)
    object["destination"] = .string(destination)
    object["state"] = .string(state.rawValue)
    object["progress"] = .double(progress)
    object["phase"] = phase.map(JSONValue.string)
    object["priority"] = .string(urgency.rawValue)
    object["attempt"] = .int(attempt)
    object["nextAttemptAt"] = nextAttemptAt.map(JSONValue.int)
    object["notBefore"] = notBefore.map(JSONValue.int)
    object["waitingFor"] = waitingFor.map { .string($0.rawValue) }
    object["createdAt"] = .int(createdAt)
    object["updatedAt"] = .int(updatedAt)
    object["finishedAt"] = finishedAt.map(JSONValue.int)
    object["payload"] = payload
    object["resources"] = .array(resources.map(\.json))
    object["failure"] = failure?.json
    if state == .sent { object["result"] = .object(JSONObject(remoteId.map { [("remoteId", .string($0))] } ?? [])) }
    return .object(object)
  }

  /// The step that runs, if one does.
  public var phase: String? {
    switch state {
    case .exporting: "export"
    case .uploading: "upload"
    case .delivering: "deliver"
    case .draft, .queued, .retrying, .paused, .sent, .failed, .canceled: nil
    }
  }
}

extension Resource {
  public var json: JSONValue {
    var object = JSONObject([
      ("index", .int(index)), ("role", .string(role.rawValue)), ("name", .string(name)),
      ("state", .string(state.rawValue)), ("progress", .double(Progress.fraction(of: self))), ("source", source.json),
    ])
    object["derivedFrom"] = derivedFrom.map(JSONValue.int)
    object["export"] = export?.json
    if let uploadProtocol, let export {
      var upload = JSONObject([
        ("protocol", .string(uploadProtocol)), ("bytesDone", .int(isDone ? export.size : 0)),
        ("bytesTotal", .int(export.size)),
      ])
      upload["etagMatchesMd5"] = receipt?.etagMatchesMd5.map(JSONValue.bool)
      object["upload"] = .object(upload)
    }
    object["url"] = url.map(JSONValue.string)
    object["receipt"] = receipt?.json
    object["failure"] = failure?.json
    return .object(object)
  }
}

extension Source {
  public var json: JSONValue {
    switch self {
    case .path(let path): ["path": .string(path)]
    case .kept(let path, _): ["path": .string(path), "keep": true]
    // Without the query, which may hold a token.
    case .url(let url, _): ["url": .string(String(url.prefix { $0 != "?" && $0 != "#" }))]
    case .paths(let paths): ["paths": .array(paths.map(JSONValue.string))]
    }
  }
}

extension ExportedFile {
  /// Without the name of the work file, which is nobody's business.
  public var json: JSONValue {
    var object = JSONObject([("mime", .string(mime)), ("size", .int(size)), ("md5", .string(md5))])
    object["width"] = width.map(JSONValue.int)
    object["height"] = height.map(JSONValue.int)
    object["durationMs"] = durationMs.map(JSONValue.int)
    object["blurhash"] = blurhash.map(JSONValue.string)
    object["rung"] = rung.map(JSONValue.string)
    return .object(object)
  }
}

extension Failure {
  public var json: JSONValue {
    var object = JSONObject([("code", .string(code.rawValue)), ("message", .string(message))])
    object["resource"] = resource.map(JSONValue.int)
    object["remedy"] = .string(remedy.rawValue)
    object["httpStatus"] = httpStatus.map(JSONValue.int)
    return .object(object)
  }
}
