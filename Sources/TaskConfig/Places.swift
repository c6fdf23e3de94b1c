/// Where things lie by the XDG Base Directory specification.
public struct Places: Sendable {
  private let environment: [String: String]

  public init(_ environment: [String: String]) { self.environment = environment }

  public var store: String { base("XDG_STATE_HOME", ".local/state") + "/taskcenter" }
  public var config: String { base("XDG_CONFIG_HOME", ".config") + "/taskcenter/config.json" }
  var outbox: String { base("XDG_DATA_HOME", ".local/share") + "/taskcenter/outbox" }

  /// A relative path in such a variable is to be ignored, says the specification.
  private func base(_ variable: String, _ usual: String) -> String {
    if let path = environment[variable], path.hasPrefix("/") { return path }
    return (environment["HOME"] ?? "/") + "/" + usual
  }
}
