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
      let destinations = DestinationReader(expand: expand)
      for (name, destination) in try reader.members() { config.destinations[name] = try destinations.read(destination) }
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
      config.uploads.caFile = try file.absolutePath(expand)
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
