import JSON
import TaskModel

// How the parts of a task that no query looks into lie in their columns. What is read back was written here, so any other
// shape means a damaged store.

extension Source {
  var stored: String {
    guard case .object(var object) = submitted else { return "{}" }
    object["file"] = file.map(JSONValue.string)
    return JSONWriter.text(.object(object))
  }

  init(stored text: String) throws {
    var fields = try JSONReader(try JSONParser.parse(text)).object()
    let file = try fields.text("file")
    if let path = fields.optional("path") {
      let isKept = try fields.optional("keep")?.bool() ?? false
      self = isKept ? .kept(path: try path.string(), file: file) : .path(try path.string())
    } else if let url = fields.optional("url") {
      self = .url(try url.string(), file: file)
    } else {
      self = .paths(try fields.required("paths").array().map { reader throws(JSONShapeError) in try reader.string() })
    }
  }
}

extension SourceIdentity {
  var stored: String {
    JSONWriter.text([
      "size": .int(size), "modifiedNs": .int(modifiedNs), "changedNs": .int(changedNs),
      "inode": .string(String(inode)),
    ])
  }

  init(stored text: String) throws {
    var fields = try JSONReader(try JSONParser.parse(text)).object()
    self.init(
      size: try fields.required("size").int(), modifiedNs: try fields.required("modifiedNs").int(in: .min ... .max),
      changedNs: try fields.required("changedNs").int(in: .min ... .max),
      inode: UInt64(try fields.required("inode").string()) ?? 0)
  }
}

extension ExportedFile {
  var stored: String {
    guard case .object(var object) = json else { return "{}" }
    object["file"] = .string(file)
    object["sha256"] = .string(sha256)
    object["key"] = key.map(JSONValue.string)
    return JSONWriter.text(.object(object))
  }

  init(stored text: String) throws {
    var fields = try JSONReader(try JSONParser.parse(text)).object()
    self.init(
      file: try fields.required("file").string(), mime: try fields.required("mime").string(),
      size: try fields.required("size").int(), md5: try fields.required("md5").string(),
      sha256: try fields.required("sha256").string(), width: try fields.int("width"), height: try fields.int("height"),
      durationMs: try fields.int64("durationMs"), blurhash: try fields.text("blurhash"), rung: try fields.text("rung"),
      key: try fields.text("key"))
  }
}

extension Receipt {
  init(stored text: String) throws {
    var fields = try JSONReader(try JSONParser.parse(text)).object()
    self.init(
      url: try fields.required("url").string(), mime: try fields.required("mime").string(),
      size: try fields.required("size").int(), md5: try fields.required("md5").string(),
      sha256: try fields.required("sha256").string(), etag: try fields.text("etag"),
      name: try fields.required("name").string(), width: try fields.int("width"), height: try fields.int("height"),
      durationMs: try fields.int64("durationMs"))
  }
}

extension Failure {
  /// With how it came about, which front ends are not told: the attempt is judged, by what is stored, when its last step
  /// has ended.
  var stored: String {
    guard case .object(var object) = json else { return "{}" }
    object["retryAfterMs"] = retryAfterMs.map(JSONValue.int)
    object["heldOrigin"] = heldOrigin.map(JSONValue.string)
    if isOffline { object["isOffline"] = true }
    if isUntried { object["isUntried"] = true }
    if needsFrontEnd { object["needsFrontEnd"] = true }
    if outcomeUnknown { object["outcomeUnknown"] = true }
    return JSONWriter.text(.object(object))
  }

  init(stored text: String) throws {
    var fields = try JSONReader(try JSONParser.parse(text)).object()
    self.init(
      FailureCode(rawValue: try fields.required("code").string()), try fields.required("message").string(),
      remedy: try fields.required("remedy").oneOf(Remedy.self), resource: try fields.int("resource"),
      httpStatus: try fields.int("httpStatus"),
      retryAfterMs: try fields.optional("retryAfterMs")?.int(in: .min ... .max),
      heldOrigin: try fields.text("heldOrigin"), isOffline: try fields.flag("isOffline"),
      isUntried: try fields.flag("isUntried"), needsFrontEnd: try fields.flag("needsFrontEnd"),
      outcomeUnknown: try fields.flag("outcomeUnknown"))
  }
}

extension JSONFields {
  fileprivate mutating func int64(_ name: String) throws(JSONShapeError) -> Int64? {
    guard let reader = optional(name) else { return nil }
    return try reader.int()
  }
  fileprivate mutating func flag(_ name: String) throws(JSONShapeError) -> Bool {
    try optional(name)?.bool() ?? false
  }
  fileprivate mutating func int(_ name: String) throws(JSONShapeError) -> Int? { try int64(name).map(Int.init) }
  fileprivate mutating func text(_ name: String) throws(JSONShapeError) -> String? {
    guard let reader = optional(name) else { return nil }
    return try reader.string()
  }
}
