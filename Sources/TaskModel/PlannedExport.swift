public import JSON

/// What an export would make of a source, found from what the source says about itself; nothing was decoded.
public struct PlannedExport: Sendable, Hashable {
  public enum Action: String, Sendable, CaseIterable {
    /// The bytes stay as they are, but for metadata.
    case pass
    /// The coded picture and sound are copied into a new container.
    case remux
    case encode, zip
  }

  public var action: Action
  /// As the export itself will call it, such as `1280x720`.
  public var rung: String?
  /// Displayed pixels.
  public var width: Int?
  public var height: Int?
  /// A guess; what comes out may well be smaller.
  public var estimatedBytes: Int64?
  /// A sentence for a person.
  public var reason: String

  public init(
    _ action: Action, rung: String? = nil, width: Int? = nil, height: Int? = nil, estimatedBytes: Int64? = nil,
    reason: String
  ) {
    self.action = action
    self.rung = rung
    self.width = width
    self.height = height
    self.estimatedBytes = estimatedBytes
    self.reason = reason
  }

  public var json: JSONObject {
    var object = JSONObject([("action", .string(action.rawValue))])
    object["rung"] = rung.map(JSONValue.string)
    object["width"] = width.map(JSONValue.int)
    object["height"] = height.map(JSONValue.int)
    object["estimatedBytes"] = estimatedBytes.map(JSONValue.int)
    object["reason"] = .string(reason)
    return object
  }
}
