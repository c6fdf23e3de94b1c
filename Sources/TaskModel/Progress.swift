/// How far a task is, as one number that never falls and says 1 exactly once, with `sent`.
///
/// `(finished resources + fractions of the running ones) / count`, weighted by the bytes of each source, over export
/// (40 %), upload (60 %), and the delivery's last 2 % of the whole.
public enum Progress {
  static let exportShare = 0.4
  static let deliveryShare = 0.02

  /// What a running step adds to what is saved.
  public struct Running: Sendable, Hashable {
    /// 0 to 1.
    public var exported: Double
    public var uploaded: Double
    public init(exported: Double = 0, uploaded: Double = 0) {
      self.exported = exported
      self.uploaded = uploaded
    }
  }

  /// - Parameter running: by resource index.
  /// - Returns: 0 to 1; never below `task.progress`.
  public static func of(_ task: SendTask, running: [Int: Running] = [:]) -> Double {
    if task.state == .sent { return 1 }
    let weights = task.resources.map(weight)
    let total = weights.reduce(0, +)
    guard total > 0 else { return task.progress }
    var done = 0.0
    for (resource, weight) in zip(task.resources, weights) {
      done += weight * fraction(of: resource, running: running[resource.index])
    }
    return max(task.progress, (1 - deliveryShare) * min(1, done / total))
  }

  /// Little beside what a derived picture is made from, whose size it has as its source's.
  private static func weight(of resource: Resource) -> Double {
    resource.role.isDerived ? 1 : Double(max(1, resource.identity?.size ?? 1))
  }

  /// 0 to 1 of one resource.
  public static func fraction(of resource: Resource, running: Running? = nil) -> Double {
    if resource.isDone { return 1 }
    let exported = resource.export != nil ? 1 : clamp(running?.exported ?? 0)
    let uploaded = resource.export != nil ? clamp(running?.uploaded ?? 0) : 0
    return exportShare * exported + (1 - exportShare) * uploaded
  }

  private static func clamp(_ value: Double) -> Double { value.isFinite ? min(1, max(0, value)) : 0 }
}
