public import TaskModel

/// A URL of the config with `{name}` places in it.
public enum URLTemplate {
  /// Each known place is filled with its percent-encoded value; unknown ones stay, and so does a brace inside of a value,
  /// which is encoded.
  public static func fill(_ template: String, _ values: [String: String]) -> String {
    substitute(template, values.mapValues { PercentEncoding.encode($0) })
  }

  /// The same with values that are what they should be already.
  public static func substitute(_ template: String, _ values: [String: String]) -> String {
    var output = ""
    var rest = Substring(template)
    while let open = rest.firstIndex(of: "{") {
      output += rest[..<open]
      rest = rest[open...]
      guard let close = rest.firstIndex(of: "}") else { break }
      let name = String(rest[rest.index(after: open)..<close])
      output += values[name] ?? String(rest[...close])
      rest = rest[rest.index(after: close)...]
    }
    return output + rest
  }
}

extension SendTask {
  /// What fills the places of a URL of the config.
  public var places: [String: String] { ["kind": kind.rawValue, "account": account, "taskId": id] }
}
