public import TaskModel

/// What the worker says about an order: any number of times `progress`, then one of the others, once.
public enum ExportReport: Sendable, Hashable {
  /// The done fraction, 0 to 1, never falling, at most ten times a second.
  case progress(id: Int64, fraction: Double)
  /// The output is complete and durable.
  case done(id: Int64, ExportResult)
  /// Nothing is left of the output.
  case failed(id: Int64, Failure)
  case probed(id: Int64, MediaFacts)
  case planned(id: Int64, PlannedExport)

  public var id: Int64 {
    switch self {
    case .progress(let id, _), .done(let id, _), .failed(let id, _), .probed(let id, _),
      .planned(let id, _):
      id
    }
  }

  /// Whether the order ends with it.
  public var isFinal: Bool { if case .progress = self { false } else { true } }
}

/// A finished export.
public struct ExportResult: Sendable, Hashable {
  public var mime: String
  /// Bytes.
  public var size: Int64
  /// Displayed pixels.
  public var width: Int?
  public var height: Int?
  public var durationMs: Int64?
  /// What was done: `960x540`, `remux`, `2048`, `pass`, `aac`, `zip`…
  public var rung: String
  /// How often a film was encoded for it, with what was given up on the way; of interest to benchmarks, not stored.
  public var encodes: Int
  /// Of a picture or a film: some thirty letters that show its colours (github.com/woltapp/blurhash).
  public var blurhash: String?

  public init(
    mime: String, size: Int64, width: Int? = nil, height: Int? = nil, durationMs: Int64? = nil, rung: String,
    encodes: Int = 0, blurhash: String? = nil
  ) {
    self.mime = mime
    self.size = size
    self.width = width
    self.height = height
    self.durationMs = durationMs
    self.rung = rung
    self.encodes = encodes
    self.blurhash = blurhash
  }
}

/// What a file is, from its bytes.
public struct MediaFacts: Sendable, Hashable {
  public enum Kind: String, Sendable, CaseIterable {
    case image, video, audio, other
  }

  public var kind: Kind
  public var mime: String
  /// Displayed pixels.
  public var width: Int?
  public var height: Int?
  public var durationMs: Int64?

  public init(kind: Kind, mime: String, width: Int? = nil, height: Int? = nil, durationMs: Int64? = nil) {
    self.kind = kind
    self.mime = mime
    self.width = width
    self.height = height
    self.durationMs = durationMs
  }
}
