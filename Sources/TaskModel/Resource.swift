public import JSON

/// What a resource is to its task.
public enum ResourceRole: String, Sendable, CaseIterable {
  case image, video, audio, cover, archive
  /// Made from another resource of the task, and sent beside it.
  case poster, thumbnail

  public var isDerived: Bool { self == .poster || self == .thumbnail }
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
  /// The picture as a blur of some 30 characters (blurha.sh).
  public var blurhash: String?
  /// Which preset or rung made it, such as `1280x720`, `remux` or `pass`.
  public var rung: String?
  /// Digest of the source's identity and the order that made it: where both are the same, so is the file.
  public var key: String?

  public init(
    file: String, mime: String, size: Int64, md5: String, sha256: String, width: Int? = nil, height: Int? = nil,
    durationMs: Int64? = nil, blurhash: String? = nil, rung: String? = nil, key: String? = nil
  ) {
    self.file = file
    self.mime = mime
    self.size = size
    self.md5 = md5
    self.sha256 = sha256
    self.width = width
    self.height = height
    self.durationMs = durationMs
    self.blurhash = blurhash
    self.rung = rung
    self.key = key
  }

  public var isRemoved: Bool { file.isEmpty }
}

/// One input of a task, and what became of it.
public struct Resource: Sendable, Hashable {
  public let index: Int
  public var role: ResourceRole
  /// Index of the resource that this one is made from.
  public let derivedFrom: Int?
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
  /// What the upload protocol saved to go on from; holds what gives access to the upload, so no front end sees it.
  public var uploadState: JSONValue?
  /// Set if and only if the resource is done.
  public var url: String?
  public var receipt: Receipt?
  public var failure: Failure?
  /// Immediate repeats used up in this attempt.
  public var repeats: Int

  public init(
    index: Int, role: ResourceRole, derivedFrom: Int? = nil, source: Source, name: String, sourceMime: String,
    identity: SourceIdentity?
  ) {
    self.index = index
    self.role = role
    self.derivedFrom = derivedFrom
    self.source = source
    self.name = name
    self.sourceMime = sourceMime
    self.identity = identity
    state = .pending
    repeats = 0
  }

  public var isDone: Bool { url != nil }
}
