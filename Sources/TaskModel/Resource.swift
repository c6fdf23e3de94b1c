/// What a resource is to its task.
public enum ResourceRole: String, Sendable, CaseIterable {
  case image, video, audio, cover, archive
}

/// A finished export: the bytes that go up.
public struct ExportedFile: Sendable, Hashable {
  /// File name inside the store's `exports/` folder; empty once the file is removed.
  public var file: String
  public var mime: String
  /// Bytes.
  public var size: Int64
  /// Lower-case hex.
  public var md5: String
  public var sha256: String
  /// Displayed pixels.
  public var width: Int?
  public var height: Int?
  public var durationMs: Int64?
  /// Which preset or rung made it, such as `1280x720`, `remux` or `pass`.
  public var rung: String?

  public init(
    file: String, mime: String, size: Int64, md5: String, sha256: String, width: Int? = nil, height: Int? = nil,
    durationMs: Int64? = nil, rung: String? = nil
  ) {
    self.file = file
    self.mime = mime
    self.size = size
    self.md5 = md5
    self.sha256 = sha256
    self.width = width
    self.height = height
    self.durationMs = durationMs
    self.rung = rung
  }

  public var isRemoved: Bool { file.isEmpty }
}

/// One input of a task, and what became of it.
public struct Resource: Sendable, Hashable {
  public let index: Int
  public var role: ResourceRole
  public var source: Source
  /// The name that goes up; never a path.
  public var name: String
  /// MIME type of the source, from its bytes.
  public var sourceMime: String
  /// As found at submit; nil for an archive of many files.
  public var identity: SourceIdentity?
  public var state: ResourceState
  public var export: ExportedFile?
  public var uploadProtocol: String?
  /// Set if and only if the resource is done.
  public var url: String?
  public var receipt: Receipt?
  public var failure: Failure?
  /// Immediate repeats used up in this attempt.
  public var repeats: Int

  public init(
    index: Int, role: ResourceRole, source: Source, name: String, sourceMime: String, identity: SourceIdentity?
  ) {
    self.index = index
    self.role = role
    self.source = source
    self.name = name
    self.sourceMime = sourceMime
    self.identity = identity
    state = .pending
    repeats = 0
  }

  public var isDone: Bool { url != nil }
}
