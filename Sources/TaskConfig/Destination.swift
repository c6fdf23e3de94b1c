public import TaskModel

extension Config {
  /// Where a task goes by the config as it is now.
  /// - Throws: `Failure` where the destination of its submit is no more.
  public func destination(of task: SendTask) throws(Failure) -> Destination {
    guard let found = destinations[task.destination] else {
      throw Failure(
        .rejected, "the config has no destination \"\(task.destination)\" any more; put it back, then retry",
        remedy: .needsUser)
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
