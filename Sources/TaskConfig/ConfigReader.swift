public import JSON
import TaskModel

/// From JSON to settings, strictly: an unknown or wrong field is an error that names its JSON pointer
/// (`schema/config.schema.json` describes the same).
public enum ConfigReader {
  /// - Parameters:
  ///   - value: of the whole file.
  ///   - expand: resolves `${…}` in strings.
  /// - Throws: `JSONShapeError`.
  public static func read(
    _ value: JSONValue, expand: @escaping (JSONReader) throws(JSONShapeError) -> String
  ) throws(JSONShapeError) -> Config {
    var reader = Reader(config: Config(), expand: expand)
    try reader.read(JSONReader(value))
    return reader.config
  }
}

private struct Reader {
  var config: Config
  let expand: (JSONReader) throws(JSONShapeError) -> String

  private static let count: ClosedRange<Int64> = 1...1_000
  private static let duration: ClosedRange<Int64> = 1...31_536_000_000

  mutating func read(_ root: JSONReader) throws(JSONShapeError) {
    var fields = try root.object()
    if let reader = fields.optional("uploads") { try uploads(reader) }
    if let reader = fields.optional("exports") { try exports(reader) }
    if let reader = fields.optional("sources") { try sources(reader) }
    if let reader = fields.optional("retry") { try retry(reader) }
    if let reader = fields.optional("retention") { try retention(reader) }
    if let reader = fields.optional("kinds") { try kinds(reader) }
    if let reader = fields.optional("destinations") {
      for (name, destination) in try reader.members() { config.destinations[name] = try self.destination(destination) }
    }
    if let reader = fields.optional("accounts") { try accounts(reader) }
    try fields.finish()
  }

  private mutating func uploads(_ reader: JSONReader) throws(JSONShapeError) {
    var fields = try reader.object()
    try fields.set(&config.uploads.slots, "slots", in: 1...100)
    try fields.set(&config.uploads.partSize, "partSize", in: 65_536...5_368_709_120)
    try fields.set(&config.uploads.stallTimeoutMs, "stallTimeoutMs", in: Reader.duration)
    try fields.set(&config.uploads.connectTimeoutMs, "connectTimeoutMs", in: Reader.duration)
    try fields.set(&config.uploads.bytesPerSecond, "bytesPerSecond", in: 0...Int64.max)
    if let file = fields.optional("caFile"), file.value != .null {
      config.uploads.caFile = try absolutePath(file)
    }
    try fields.finish()
  }

  private mutating func exports(_ reader: JSONReader) throws(JSONShapeError) {
    var fields = try reader.object()
    try fields.set(&config.exports.slots, "slots", in: 1...100)
    try fields.set(&config.exports.picturesPerSlot, "picturesPerSlot", in: 1...4)
    try fields.set(&config.exports.memoryLimit, "memoryLimit", in: 268_435_456...1_099_511_627_776)
    try fields.set(&config.exports.timeoutMs, "timeoutMs", in: Reader.duration)
    try fields.finish()
  }

  private mutating func sources(_ reader: JSONReader) throws(JSONShapeError) {
    var fields = try reader.object()
    try fields.set(&config.sources.maxBytes, "maxBytes", in: 1...Int64.max)
    try fields.finish()
  }

  private mutating func retry(_ reader: JSONReader) throws(JSONShapeError) {
    var fields = try reader.object()
    try fields.set(&config.retry.resourceRetries, "resourceRetries", in: 0...100)
    try fields.set(&config.retry.baseMs, "baseMs", in: Reader.duration)
    try fields.set(&config.retry.capMs, "capMs", in: Reader.duration)
    try fields.set(&config.retry.attempts, "attempts", in: Reader.count)
    try fields.set(&config.retry.expireAfterMs, "expireAfterMs", in: Reader.duration)
    try fields.set(&config.retry.networkProbeMs, "networkProbeMs", in: Reader.duration)
    try fields.finish()
  }

  private mutating func retention(_ reader: JSONReader) throws(JSONShapeError) {
    var fields = try reader.object()
    try fields.set(&config.retention.finishedDays, "finishedDays", in: 0...36_500)
    try fields.finish()
  }

  private mutating func kinds(_ reader: JSONReader) throws(JSONShapeError) {
    var fields = try reader.object()
    if let chat = fields.optional("chatVideo") {
      var chatFields = try chat.object()
      try chatFields.set(&config.kinds.chatVideo.limit, "limit", in: 65_536...Int64.max)
      try chatFields.set(&config.kinds.chatVideo.hardLimit, "hardLimit", in: 65_536...Int64.max)
      try chatFields.finish()
    }
    if let feed = fields.optional("feedPost") {
      var feedFields = try feed.object()
      try feedFields.set(&config.kinds.feedPost.maxImages, "maxImages", in: 1...100)
      if let image = feedFields.optional("image") {
        var imageFields = try image.object()
        try imageFields.set(&config.kinds.feedPost.image.longEdge, "longEdge", in: 16...16_384)
        try imageFields.set(&config.kinds.feedPost.image.quality, "quality", in: 1...100)
        if let format = imageFields.optional("format") {
          config.kinds.feedPost.image.format = try format.oneOf(Config.ImageFormat.Encoding.self)
        }
        try imageFields.finish()
      }
      try feedFields.finish()
    }
    try fields.finish()
  }

  // MARK: Destinations

  private func destination(_ reader: JSONReader) throws(JSONShapeError) -> Destination {
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
    let path = try absolutePath(try fields.required("path"))
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
      let path = try absolutePath(try fields.required("path"))
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

  private func absolutePath(_ reader: JSONReader) throws(JSONShapeError) -> String {
    let path = try expand(reader)
    guard path.hasPrefix("/") else { throw reader.error("must be an absolute path, found \"\(path)\"") }
    return path
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

  private mutating func accounts(_ reader: JSONReader) throws(JSONShapeError) {
    for (name, account) in try reader.members() {
      var fields = try account.object()
      let destination = try fields.required("destination")
      let target = try destination.string()
      guard target == Config.localDestination || config.destinations[target] != nil else {
        throw destination.error("there is no destination \"\(target)\"")
      }
      config.accounts[name] = Config.Account(destination: target)
      try fields.finish()
    }
  }
}

extension JSONFields {
  fileprivate mutating func set(
    _ target: inout Int64, _ name: String, in range: ClosedRange<Int64>
  ) throws(JSONShapeError) {
    if let reader = optional(name) { target = try reader.int(in: range) }
  }

  fileprivate mutating func set(
    _ target: inout Int, _ name: String, in range: ClosedRange<Int64>
  ) throws(JSONShapeError) {
    if let reader = optional(name) { target = Int(try reader.int(in: range)) }
  }
}
