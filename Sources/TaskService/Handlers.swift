import JSON
import JSONRPC
import TaskEngine
import TaskModel
import TaskProtocol
import TaskStorage

/// From a method's name to what answers it.
enum Handlers {
  typealias Work = @Sendable () async throws -> JSONValue
  /// The part that must keep its place, which hands back the part that need not.
  typealias Beginning = @Sendable () async throws -> Work

  enum Route {
    case answer(Result<JSONValue, RPCError>)
    case inOrder(Work)
    case inOrderThenBeside(Beginning)
    case beside(Work)
  }

  static func route(_ call: Call, in session: Session) -> Route {
    do {
      return try decodedRoute(call, in: session)
    } catch let error as JSONShapeError {
      return .answer(.failure(.invalidParams(error)))
    } catch {
      return .answer(.failure(.internalError("\(error)")))
    }
  }

  private static func decodedRoute(_ call: Call, in session: Session) throws -> Route {
    let (service, engine) = (session.service, session.service.engine)
    switch call.method {
    case EngineStatus.method:
      let _: EngineStatus = try decode(call.params)
      return .answer(.success(service.status()))
    case Initialize.method:
      let request: Initialize = try decode(call.params)
      session.announce(request.capabilities)
      return .answer(.success(service.greeting()))
    case Shutdown.method:
      let _: Shutdown = try decode(call.params)
      return .answer(.success([:]))
    case SubmitTask.method:
      let submission = (try decode(call.params) as SubmitTask).submission
      return .inOrderThenBeside {
        let pending = try await engine.submit(submission)
        return {
          let submitted = try await pending.value()
          return ["task": submitted.task.json, "created": .bool(submitted.created)]
        }
      }
    case GetTask.method: return try one(call) { (request: GetTask) in try await engine.task(request.id) }
    case StartTask.method: return try one(call) { (request: StartTask) in try await engine.startDraft(request.id) }
    case ResumeTask.method: return try one(call) { (request: ResumeTask) in try await engine.resume(request.id) }
    case RetryTask.method: return try one(call) { (request: RetryTask) in try await engine.retry(request.id) }
    case CancelTask.method: return try slow(call) { (request: CancelTask) in try await engine.cancel(request.id) }
    case PauseTask.method: return try slow(call) { (request: PauseTask) in try await engine.pause(request.id) }
    case WaitTask.method:
      return try slow(call) { (request: WaitTask) in
        do {
          return try await engine.wait(for: request.id, timeoutMs: request.timeoutMs)
        } catch is CancellationError where session.isDraining {
          return try await engine.task(request.id)
        }
      }
    case UpdateTask.method:
      return try one(call) { (request: UpdateTask) in try await engine.update(request.id, request.change) }
    case LogoutAccount.method:
      let request: LogoutAccount = try decode(call.params)
      return .inOrderThenBeside {
        {
          let done = try await engine.logout(request.account)
          return ["canceled": .int(done.canceled), "removed": .int(done.removed)]
        }
      }
    case Discover.method:
      let _: Discover = try decode(call.params)
      return .answer(.success(try service.description()))
    case DeleteTask.method:
      let request: DeleteTask = try decode(call.params)
      return .beside {
        try await engine.delete(request.id)
        return [:]
      }
    case PlanExport.method:
      let request: PlanExport = try decode(call.params)
      return .beside {
        let plans = try await engine.plan(Submission(kind: request.kind, resources: request.resources))
        return ["resources": .array(plans.enumerated().map { $1.json(index: $0) })]
      }
    case TaskHistory.method:
      let request: TaskHistory = try decode(call.params)
      return .inOrder { ["entries": .array(try await engine.history(request.id).map(\.json))] }
    case ListTasks.method:
      let request: ListTasks = try decode(call.params)
      return .inOrder { try await list(request, engine) }
    case Subscribe.method:
      let request: Subscribe = try decode(call.params)
      return .inOrder { try await subscribe(request, session) }
    case Unsubscribe.method:
      let request: Unsubscribe = try decode(call.params)
      return .inOrder {
        guard engine.hub.unsubscribe(request.subscription, sink: session) else {
          throw RPCError.invalidParams(
            JSONShapeError(pointer: "/subscription", message: "this session has no such subscription"))
        }
        return [:]
      }
    default: return .answer(.failure(.methodNotFound(call.method)))
    }
  }

  private static func one<R: Request>(
    _ call: Call, _ body: @escaping @Sendable (R) async throws -> SendTask
  ) throws -> Route {
    let request: R = try decode(call.params)
    return .inOrder { ["task": try await body(request).json] }
  }

  private static func slow<R: Request>(
    _ call: Call, _ body: @escaping @Sendable (R) async throws -> SendTask
  ) throws -> Route {
    let request: R = try decode(call.params)
    return .beside { ["task": try await body(request).json] }
  }

  /// - Throws: `JSONShapeError`.
  static func decode<R: Request>(_ params: JSONValue?) throws -> R {
    let params = params ?? .object(JSONObject())
    guard let object = params.object else {
      throw JSONShapeError(pointer: "", message: "parameters are given by name, in an object")
    }
    var fields = JSONFields(object)
    let request = try R(&fields)
    try fields.finish()
    return request
  }

  // MARK: Lists

  private static func list(_ request: ListTasks, _ engine: Engine) async throws -> JSONValue {
    let (tasks, isLastPage) = try await engine.tasks(
      TaskFilter(request.filter), before: request.cursor.flatMap { Int64($0) }, limit: request.limit ?? 100)
    var result = JSONObject([("tasks", .array(tasks.map { trim($0.json, to: request.fields) }))])
    if !isLastPage, let last = tasks.last { result["cursor"] = .string(String(last.sequence)) }
    return .object(result)
  }

  private static func trim(_ task: JSONValue, to fields: [String]?) -> JSONValue {
    guard let fields, let object = task.object else { return task }
    return .object(JSONObject(object.members.filter { $0.name == "id" || fields.contains($0.name) }.map { ($0, $1) }))
  }

  static let defaultProgressIntervalMs: Int64 = 200

  private static func subscribe(_ request: Subscribe, _ session: Session) async throws -> JSONValue {
    let subscribed = try await session.service.engine.subscribe(
      TaskFilter(request.filter), since: request.since,
      intervalMs: request.progressIntervalMs ?? defaultProgressIntervalMs, sink: session)
    var result = JSONObject([
      ("subscription", .int(subscribed.subscription)), ("cursor", .int(subscribed.cursor)),
      ("tasks", .array(subscribed.tasks.map(\.json))),
    ])
    if subscribed.truncated { result["truncated"] = true }
    return .object(result)
  }

  // MARK: Results

  static func begin(_ work: Beginning) async -> Result<Work, RPCError> {
    do { return .success(try await work()) } catch { return .failure(RPCError(of: error)) }
  }

  static func result(of work: Work) async -> Result<JSONValue, RPCError> {
    do { return .success(try await work()) } catch { return .failure(RPCError(of: error)) }
  }
}

extension TaskFilter {
  fileprivate init(_ params: FilterParams) {
    self.init()
    account = params.account
    kind = params.kind
    lane = params.lane
    key = params.key
    states = params.states.map(Set.init)
    ids = params.ids.map(Set.init)
  }
}

extension HistoryEntry {
  fileprivate var json: JSONValue {
    var object = JSONObject([("at", .int(at)), ("attempt", .int(attempt))])
    object["resource"] = transition.resource.map(JSONValue.int)
    object["from"] = .string(transition.from)
    object["to"] = .string(transition.to)
    object["failure"] = transition.failure?.json
    return .object(object)
  }
}

extension PlannedExport {
  fileprivate func json(index: Int) -> JSONValue {
    .object(JSONObject([("index", .int(index))] + json.members.map { ($0.name, $0.value) }))
  }
}
