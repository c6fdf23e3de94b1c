import Platform
public import TaskModel

/// The settings of one engine, complete: everything has a default (docs/config.md). Durations are milliseconds,
/// sizes bytes.
public struct Config: Sendable, Hashable {
  public var uploads = Uploads()
  public var exports = Exports()
  public var sources = Sources()
  public var retry = RetryPolicy()
  public var retention = Retention()
  public var kinds = Kinds()
  public var destinations: [String: Destination] = [:]
  public var accounts: [String: Account] = [:]

  public init() {}

  /// The destination that is there without any config.
  public static let localDestination = "local"

  public struct Uploads: Sendable, Hashable {
    public var slots = 3
    public var stallTimeoutMs: Int64 = 30_000
    public var connectTimeoutMs: Int64 = 10_000
    /// Bytes that go up at once where an upload is cut into pieces; more where the protocol has a limit of pieces.
    public var partSize: Int64 = 8_388_608
    /// PEM file of the authorities to trust in place of the system's.
    public var caFile: String?
    /// For all uploads together; 0: no limit.
    public var bytesPerSecond: Int64 = 0
    public init() {}
  }

  public struct Sources: Sendable, Hashable {
    /// The largest file that is fetched from a URL.
    public var maxBytes: Int64 = 4_294_967_296
    public init() {}
  }

  public struct Exports: Sendable, Hashable {
    public var slots = 1
    /// Pictures that are made at once in one slot. A picture is decoded by one thread, so that it takes two of them to keep
    /// two cores busy.
    public var picturesPerSlot = min(2, SystemProcess.usableCores)
    /// Address space of one worker.
    public var memoryLimit: Int64 = 2_147_483_648
    public var timeoutMs: Int64 = 1_800_000
    public init() {}
  }

  public struct Retention: Sendable, Hashable {
    public var finishedDays = 30
    public init() {}
  }

  public struct Kinds: Sendable, Hashable {
    public var feedPost = FeedPost()
    public var chatVideo = ChatVideo()
    public init() {}
  }

  public struct FeedPost: Sendable, Hashable {
    public var maxImages = 9
    public var image = ImageFormat(longEdge: 2048, quality: 82)
    public init() {}
  }

  public struct ChatVideo: Sendable, Hashable {
    public var limit: Int64 = 26_214_400
    public var hardLimit: Int64 = 104_857_600
    public init() {}
  }

  public struct ImageFormat: Sendable, Hashable {
    public enum Encoding: String, Sendable, CaseIterable {
      case jpeg, heic
    }

    /// Pixels.
    public var longEdge: Int
    /// JPEG quality, 1 to 100; HEIC has one of its own.
    public var quality: Int
    public var format: Encoding
    public init(longEdge: Int, quality: Int, format: Encoding = .jpeg) {
      self.longEdge = longEdge
      self.quality = quality
      self.format = format
    }
  }

  public struct Account: Sendable, Hashable {
    public var destination: String
    public init(destination: String) { self.destination = destination }
  }
}
