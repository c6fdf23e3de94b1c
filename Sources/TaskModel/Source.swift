/// Where a resource's bytes come from.
public enum Source: Sendable, Hashable {
  /// Read in place, by absolute path.
  case path(String)
  /// Files and folders that become one zip (kind `log`), by absolute paths.
  case paths([String])

  public var paths: [String] {
    switch self {
    case .path(let path): [path]
    case .paths(let paths): paths
    }
  }
}

/// What tells that a file is still the one that was submitted (design section 5).
public struct SourceIdentity: Sendable, Hashable {
  /// Bytes.
  public var size: Int64
  /// Nanoseconds since 1970.
  public var modifiedNs: Int64
  public var changedNs: Int64
  public var inode: UInt64

  public init(size: Int64, modifiedNs: Int64, changedNs: Int64, inode: UInt64) {
    self.size = size
    self.modifiedNs = modifiedNs
    self.changedNs = changedNs
    self.inode = inode
  }

  /// Whether the content may have changed. Another ctime or inode alone (a rename, a restored backup) does not say so.
  public func hasSameContent(as other: SourceIdentity) -> Bool {
    size == other.size && modifiedNs == other.modifiedNs
  }
}
