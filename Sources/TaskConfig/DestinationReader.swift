import JSON

/// Reads one destination of the config: where objects and credentials come from, and who publishes.
struct DestinationReader {
  /// Resolves `${…}` in a string.
  let expand: (JSONReader) throws(JSONShapeError) -> String

  func read(_ reader: JSONReader) throws(JSONShapeError) -> Destination {
    var fields = try reader.object()
    let storage = fields.optional("storage")
    let credential = fields.optional("credential")
    let source: CredentialSource
    switch (storage, credential) {
    case (let storage?, nil): source = try self.storage(storage)
    case (nil, let credential?): source = try self.credential(credential)
    case (nil, nil): throw fields.error("needs a storage or a credential")
    case (_?, let credential?): throw credential.error("a destination has a storage or a credential, not both")
    }
    let delivery = try self.delivery(try fields.required("delivery"))
    try fields.finish()
    return Destination(credential: source, delivery: delivery)
  }

  private func storage(_ reader: JSONReader) throws(JSONShapeError) -> CredentialSource {
    var fields = try reader.object()
    try known(try fields.required("type"), "directory")
    let path = try fields.required("path").absolutePath(expand)
    try fields.finish()
    return .directory(path: path)
  }

  private func credential(_ reader: JSONReader) throws(JSONShapeError) -> CredentialSource {
    var fields = try reader.object()
    let type = try fields.required("type")
    let source: CredentialSource
    switch try type.string() {
    case "http": source = .http(try httpTarget(&fields))
    case "static": source = .fixed(try staticUpload(try fields.required("upload")))
    case "frontEnd": source = .frontEnd
    case let other: throw type.error("unknown value \"\(other)\"; known: http, static, frontEnd")
    }
    try fields.finish()
    return source
  }

  private func staticUpload(_ reader: JSONReader) throws(JSONShapeError) -> StaticUpload {
    var fields = try reader.object()
    try known(try fields.required("protocol"), "multipart")
    let endpointReader = try fields.required("endpoint")
    var endpoint = try expand(endpointReader)
    while endpoint.hasSuffix("/") { endpoint.removeLast() }
    guard endpoint.hasPrefix("http://") || endpoint.hasPrefix("https://"), endpoint.filter({ $0 == "/" }).count == 2
    else { throw endpointReader.error("must be http:// or https:// and a host, without a path") }
    let keyPrefix = try fields.optional("keyPrefix").map { reader throws(JSONShapeError) in
      guard try reader.string() != "" else { return "" }
      let prefix = try template(reader)
      guard !prefix.hasPrefix("/"), !prefix.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) else {
        throw reader.error("must not begin with \"/\" or have a segment \".\" or \"..\"")
      }
      return prefix
    }
    let bucket = StaticUpload.Bucket(
      endpoint: endpoint, region: try fields.optional("region").map(expand) ?? "us-east-1",
      name: try expand(try fields.required("bucket")), keyPrefix: keyPrefix ?? "",
      pathStyle: try fields.optional("pathStyle")?.bool() ?? false,
      accessKeyId: try expand(try fields.required("accessKeyId")),
      secretAccessKey: try expand(try fields.required("secretAccessKey")),
      sessionToken: try fields.optional("sessionToken").map(expand),
      publicUrl: try fields.optional("publicUrl").map { reader throws(JSONShapeError) in
        try template(reader, besides: "{key}")
      })
    try fields.finish()
    return .bucket(bucket)
  }

  private func delivery(_ reader: JSONReader) throws(JSONShapeError) -> DeliveryTarget {
    var fields = try reader.object()
    let type = try fields.required("type")
    switch try type.string() {
    case "http":
      let target = try httpTarget(&fields)
      try fields.finish()
      return .http(target)
    case "journal":
      let path = try fields.required("path").absolutePath(expand)
      try fields.finish()
      return .journal(path: path)
    case "frontEnd":
      try fields.finish()
      return .frontEnd
    case let other: throw type.error("unknown value \"\(other)\"; known: http, journal, frontEnd")
    }
  }

  private func known(_ reader: JSONReader, _ word: String) throws(JSONShapeError) {
    let found = try reader.string()
    guard found == word else { throw reader.error("unknown value \"\(found)\"; known: \(word)") }
  }

  /// A text with places that are filled for each task.
  private func template(_ reader: JSONReader, besides more: String...) throws(JSONShapeError) -> String {
    let text = try expand(reader)
    let known = ["{account}", "{kind}", "{taskId}"] + more
    var rest = text[...]
    while let open = rest.firstIndex(of: "{") {
      rest = rest[open...]
      guard let place = known.first(where: rest.hasPrefix) else {
        let found = rest.firstIndex(of: "}").map { rest[...$0] } ?? rest
        throw reader.error("unknown place \"\(found)\"; known: \(known.joined(separator: ", "))")
      }
      rest = rest.dropFirst(place.count)
    }
    return text
  }

  private func httpTarget(_ fields: inout JSONFields) throws(JSONShapeError) -> HTTPTarget {
    let reader = try fields.required("url")
    let url = try template(reader)
    guard let scheme = ["http://", "https://"].first(where: url.hasPrefix) else {
      throw reader.error("must begin with http:// or https://")
    }
    guard let first = url.dropFirst(scheme.count).first, !"/?#:".contains(first) else {
      throw reader.error("must name a host")
    }
    guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw reader.error("must be encoded: no spaces, control characters or letters beyond ASCII")
    }
    var headers: [HTTPTarget.Header] = []
    for (name, value) in try fields.optional("headers")?.members() ?? [] {
      let text = try expand(value)
      guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }) else {
        throw value.error("\"\(name)\" is no header name")
      }
      guard !text.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else {
        throw value.error("must not contain control characters")
      }
      headers.append(HTTPTarget.Header(name: name, value: text))
    }
    return HTTPTarget(url: url, headers: headers)
  }
}

extension JSONReader {
  /// - Parameter expand: resolves `${…}`.
  func absolutePath(_ expand: (JSONReader) throws(JSONShapeError) -> String) throws(JSONShapeError) -> String {
    let path = try expand(self)
    guard path.hasPrefix("/") else { throw error("must be an absolute path, found \"\(path)\"") }
    return path
  }
}
