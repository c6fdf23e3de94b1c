/// Where a resource's bytes come from.
public enum Source: Sendable, Hashable {
  /// Read in place, by absolute path.
  case path(String)
  /// Files and folders that become one zip (kind `log`), by absolute paths.
  case paths([String])
  /// A private copy, taken at submit, of what lay at `path`; `file` is its name in the store's `sources/`, nil before the
  /// copy is made and after nobody needs it.
  case kept(path: String, file: String?)
  /// Fetched into the store when the task's turn comes; `file` is its name there, nil while it is not.
  case url(String, file: String?)

  /// What the submitter named, as far as it lies on this machine.
  public var paths: [String] {
    switch self {
    case .path(let path), .kept(let path, _): [path]
    case .paths(let paths): paths
    case .url: []
    }
  }

  /// A file of the store that belongs to this source alone.
  public var file: String? {
    switch self {
    case .path, .paths: nil
    case .kept(_, let file), .url(_, let file): file
    }
  }

  /// The same source with another file of the store, or none.
  public func keeping(_ file: String?) -> Source {
    switch self {
    case .path, .paths: self
    case .kept(let path, _): .kept(path: path, file: file)
    case .url(let url, _): .url(url, file: file)
    }
  }
}

/// What tells that a file is still the one that was submitted.
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
