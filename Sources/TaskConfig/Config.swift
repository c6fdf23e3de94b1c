import Platform
public import TaskModel

/// The settings of one engine, complete: everything has a default (design section 11). Durations are milliseconds,
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

extension Config {
  /// Where a task goes by the config as it is now.
  /// - Throws: `Failure` where the destination of its submit is no more.
  public func destination(of task: SendTask) throws(Failure) -> Destination {
    guard let found = destinations[task.destination] else {
      throw Failure(.rejected, "the config has no destination \"\(task.destination)\"", remedy: .needsUser)
    }
    return found
  }
}

/// Where tasks go: who gives the right to upload, and who publishes.
public struct Destination: Sendable, Hashable {
  public var credential: CredentialSource
  public var delivery: DeliveryTarget
  public init(credential: CredentialSource, delivery: DeliveryTarget) {
    self.credential = credential
    self.delivery = delivery
  }
}

public enum CredentialSource: Sendable, Hashable {
  /// Objects go to files below this folder; nobody is asked.
  case directory(path: String)
  /// `POST` to the business service.
  case http(HTTPTarget)
  /// Nobody is asked: the config has it.
  case fixed(StaticUpload)
  /// `credential/issue` to an attached front end.
  case frontEnd
}

/// An upload that is the same for every task.
public enum StaticUpload: Sendable, Hashable {
  case bucket(Bucket)

  /// Objects go to a bucket of S3 or what looks like it, by requests that are signed here.
  public struct Bucket: Sendable, Hashable {
    /// Scheme and host.
    public var endpoint: String
    public var region: String
    public var name: String
    /// `{account}`, `{kind}` and `{taskId}` are replaced; `{taskId}/{index}-{name}` follows.
    public var keyPrefix: String
    public var pathStyle: Bool
    public var accessKeyId: String
    public var secretAccessKey: String
    public var sessionToken: String?
    /// Where an object is read; besides, `{key}` is replaced. nil: where it was put.
    public var publicUrl: String?

    public init(
      endpoint: String, region: String, name: String, keyPrefix: String = "", pathStyle: Bool = false,
      accessKeyId: String, secretAccessKey: String, sessionToken: String? = nil, publicUrl: String? = nil
    ) {
      self.endpoint = endpoint
      self.region = region
      self.name = name
      self.keyPrefix = keyPrefix
      self.pathStyle = pathStyle
      self.accessKeyId = accessKeyId
      self.secretAccessKey = secretAccessKey
      self.sessionToken = sessionToken
      self.publicUrl = publicUrl
    }
  }
}

public enum DeliveryTarget: Sendable, Hashable {
  /// One line per task is appended to this JSONL file.
  case journal(path: String)
  case http(HTTPTarget)
  /// `delivery/perform` to an attached front end.
  case frontEnd
}

/// A URL and the headers to send with it. `{kind}`, `{account}` and `{taskId}` in the URL are replaced.
public struct HTTPTarget: Sendable, Hashable {
  public var url: String
  /// In the order of the config file; values may hold secrets and are never logged.
  public var headers: [Header]
  public init(url: String, headers: [Header] = []) {
    self.url = url
    self.headers = headers
  }

  public struct Header: Sendable, Hashable {
    public var name: String
    public var value: String
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }
}
