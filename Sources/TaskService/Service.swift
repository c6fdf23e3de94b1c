import JSON
import JSONRPC
import Platform
public import TaskEngine
import TaskProtocol

/// What every session of one engine shares.
public final class Service: Sendable {
  public static let version = "0.1.0"
  public static let protocolVersion = "1"

  public let engine: Engine
  let storeFolder: String
  /// Another one at every start, so that a front end can tell a restart from a reconnect.
  let runID: String
  let startedAt = SystemTime.monotonicMs()
  public let sessions = SessionList()
  let frontEnds: FrontEndRegistry

  public init(engine: Engine, storeFolder: String, frontEnds: FrontEndRegistry) {
    self.frontEnds = frontEnds
    self.engine = engine
    self.storeFolder = storeFolder
    runID = RandomName.make()
  }

  /// The methods that this engine answers.
  static let methods: [String] = [
    Initialize.method, Shutdown.method, SubmitTask.method, GetTask.method, ListTasks.method, StartTask.method,
    CancelTask.method, RetryTask.method, PauseTask.method, ResumeTask.method, DeleteTask.method, WaitTask.method,
    TaskHistory.method, UpdateTask.method, LogoutAccount.method, Subscribe.method, Unsubscribe.method,
    PlanExport.method, EngineStatus.method, Discover.method,
  ]

  // MARK: Answers that wait for nobody

  /// Read from counters, on the session's own thread: this is also how a front end asks whether the engine is alive.
  func status() -> JSONValue {
    let board = engine.status
    let counts = board.counts.sorted { $0.key.rawValue < $1.key.rawValue }
    return [
      "runId": .string(runID), "version": .string(Service.version), "pid": .int(Platform.SystemProcess.id),
      "uptimeMs": .int(SystemTime.monotonicMs() - startedAt), "store": .string(storeFolder),
      "online": .bool(board.isOnline), "uploads": Service.slots(board.uploads), "exports": Service.slots(board.exports),
      "tasks": .object(JSONObject(counts.map { ($0.key.rawValue, .int($0.value)) })),
      "sessions": .int(sessions.count), "notices": .array(board.notices.map(JSONValue.string)),
    ]
  }

  private static func slots(_ usage: (used: Int, limit: Int)) -> JSONValue {
    ["used": .int(usage.used), "limit": .int(usage.limit)]
  }

  /// The OpenRPC document of this folder, with this version's number.
  /// - Throws: `JSONSyntaxError` where that file is broken.
  func description() throws -> JSONValue {
    var document = try JSONParser.parse(PackageResources.openrpc_json).object ?? JSONObject()
    document["info"] = ["title": "taskcenterd", "version": .string(Service.version)]
    return .object(document)
  }

  func greeting() -> JSONValue {
    [
      "serverInfo": ["name": "taskcenterd", "version": .string(Service.version)],
      "protocolVersion": .string(Service.protocolVersion), "runId": .string(runID),
      "methods": .array(Service.methods.map(JSONValue.string)),
    ]
  }
}
