import Dispatch
import JSON
import JSONRPC
public import Platform
import Synchronization
public import TaskEngine
import TaskProtocol
public import TaskStorage

/// One front end at the other end of two descriptors.
///
/// Requests are taken in the order in which they came. What can be answered from memory is answered on the reading thread;
/// what needs the store goes through one queue per session, so that a submit stays before the list that follows it; what
/// may take long (`task/wait`, a cancel) runs beside the queue. Every request is answered exactly once.
public final class Session: Sendable {
  static let inFlightLimit = 1_000

  private struct State {
    var inFlight = 0
    var isDraining = false
    var hasEnded = false
    var whenQuiet: [@Sendable () -> Void] = []
    /// Requests that `$/cancelRequest` can reach.
    var cancelable: [JSONValue: Task<Void, Never>] = [:]
  }

  let service: Service
  let output: Output
  private let input: OpenFile
  private let drainMs: Int?
  private let state = Mutex(State())
  private let queue: AsyncStream<@Sendable () async -> Void>.Continuation
  private let onEnd: @Sendable (Session) -> Void
  /// What the engine has asked of this front end.
  let asked = OutgoingRequests()

  /// - Parameters:
  ///   - drainMs: how long requests may still take after the end of the stream; nil: as long as it takes.
  ///   - onEnd: called once, when the front end's stream has ended and everything read has been answered, or when it is
  ///     lost.
  public init(
    service: Service, input: OpenFile, output: OpenFile, drainMs: Int?,
    onEnd: @escaping @Sendable (Session) -> Void
  ) {
    self.service = service
    self.input = input
    self.drainMs = drainMs
    self.onEnd = onEnd
    let (stream, queue) = AsyncStream<@Sendable () async -> Void>.makeStream()
    self.queue = queue
    let lost = LostSignal()
    self.output = Output(output, onLoss: { lost.raise() })
    lost.session = { [weak self] in self?.end() }
    Task { for await work in stream { await work() } }
  }

  /// Begins to read.
  /// - Throws: `SystemError` where no thread can be started.
  public func start() throws(SystemError) {
    service.sessions.add(self)
    try Input.start(
      input, handler: { [self] piece, framing in take(piece, framing) }, onEnd: { [self] in inputEnded() })
  }

  // MARK: Reading

  private func take(_ piece: MessageSplitter.Piece, _ framing: Framing) {
    output.setFraming(framing)
    switch piece {
    case .tooLong: refuse(.invalidRequest("a message is at most 16 MiB"))
    case .broken(let reason): refuse(.invalidRequest(reason))
    case .message(let bytes):
      do {
        receive(try JSONParser.parse(bytes))
      } catch {
        refuse(.parseError(error.description))
      }
    }
  }

  private func refuse(_ error: RPCError) { output.send(.response(id: .null, result: .failure(error))) }

  private func receive(_ value: JSONValue) {
    guard let batch = value.array else {
      receive(Message(value)) { [output] in output.send($0) }
      return
    }
    guard !batch.isEmpty else { return refuse(.invalidRequest("a batch must not be empty")) }
    let messages = batch.map(Message.init)
    let answers = BatchAnswers(expected: messages.count { $0.wantsAnswer }) { [output] in output.send(json: $0) }
    for message in messages { receive(message) { answers.add($0) } }
  }

  private func receive(_ message: Message, _ reply: @escaping @Sendable (Message) -> Void) {
    switch message {
    case .request(let id, let method, let params): request(Call(id: id, method: method, params: params, reply: reply))
    case .notification(let method, let params): notification(method, params)
    case .invalid(let id, let error): reply(.response(id: id, result: .failure(error)))
    case .response(let id, let result): asked.resolve(id, result)
    }
  }

  private func request(_ call: Call) {
    let isBusy = state.withLock { state in
      guard state.inFlight < Session.inFlightLimit else { return true }
      state.inFlight += 1
      return false
    }
    if isBusy { return call.answer(.failure(.busy(Session.inFlightLimit))) }
    switch Handlers.route(call, in: self) {
    case .answer(let result): finish(call, result)
    case .inOrder(let work):
      queue.yield { [self] in finish(call, await Handlers.result(of: work)) }
    case .inOrderThenBeside(let work):
      queue.yield { [self] in
        switch await Handlers.begin(work) {
        case .success(let rest): beside(call, rest)
        case .failure(let error): finish(call, .failure(error))
        }
      }
    case .beside(let work): beside(call, work)
    }
  }

  private func beside(_ call: Call, _ work: @escaping Handlers.Work) {
    // Within the lock, so that a quick one can't have finished before it is known.
    state.withLock { state in
      state.cancelable[call.id] = Task { finish(call, await Handlers.result(of: work)) }
    }
  }

  private func finish(_ call: Call, _ result: Result<JSONValue, RPCError>) {
    call.answer(result)
    let callbacks = state.withLock { state -> [@Sendable () -> Void] in
      state.cancelable[call.id] = nil
      state.inFlight -= 1
      guard state.inFlight == 0 else { return [] }
      defer { state.whenQuiet = [] }
      return state.whenQuiet
    }
    for callback in callbacks { callback() }
    // One that was refused is none.
    if call.method == Shutdown.method, case .success = result { inputEnded() }
  }

  private func notification(_ method: String, _ params: JSONValue?) {
    switch method {
    case NetworkChanged.method:
      guard let change: NetworkChanged = try? Handlers.decode(params) else { return }
      let engine = service.engine
      Task { await engine.networkChanged(isOnline: change.isOnline) }
    case "$/cancelRequest":
      guard let id = params?["id"] else { return }
      state.withLock { $0.cancelable[id] }?.cancel()
    default: break  // A notification is never answered, not even with an error.
    }
  }

  /// The front end offers to do something for the engine.
  func announce(_ capabilities: Capabilities) {
    guard !capabilities.isEmpty else { return }
    service.frontEnds.add(self, capabilities)
    let engine = service.engine
    Task { await engine.frontEndAttached() }
  }

  // MARK: Ending

  private func inputEnded() {
    let isFirst = state.withLock { state in
      defer { state.isDraining = true }
      return !state.isDraining
    }
    guard isFirst else { return }
    // It can't answer any more.
    service.frontEnds.remove(self)
    asked.close()
    whenQuiet { [self] in output.whenDrained { [self] in end() } }
    guard let drainMs else { return }
    let queue = DispatchQueue.global()
    queue.asyncAfter(deadline: .now() + .milliseconds(drainMs)) { [weak self] in self?.cancelWaiting() }
    // A front end that does not read its answers does not keep the engine.
    queue.asyncAfter(deadline: .now() + .milliseconds(2 * drainMs)) { [weak self] in self?.end() }
  }

  /// Nothing more is asked; what is still on its way is answered as well as it can be.
  var isDraining: Bool { state.withLock { $0.isDraining } }

  private func whenQuiet(_ callback: @escaping @Sendable () -> Void) {
    let isQuiet = state.withLock { state in
      if state.inFlight == 0 { return true }
      state.whenQuiet.append(callback)
      return false
    }
    if isQuiet { callback() }
  }

  /// Ends what still waits, so that it is answered with what is true now.
  private func cancelWaiting() { for task in state.withLock({ Array($0.cancelable.values) }) { task.cancel() } }

  private func end() {
    let isFirst = state.withLock { state in
      defer { state.hasEnded = true }
      return !state.hasEnded
    }
    guard isFirst else { return }
    service.engine.hub.forget(self)
    service.frontEnds.remove(self)
    asked.close()
    output.close()
    // A caller at the door would wait for answers that never come.
    UnixSocket.hangUp(input)
    queue.finish()
    service.sessions.remove(self)
    onEnd(self)
  }
}

extension Message {
  fileprivate var wantsAnswer: Bool {
    switch self {
    case .request, .invalid: true
    case .notification, .response: false
    }
  }
}

/// One request and the way back.
struct Call: Sendable {
  let id: JSONValue
  let method: String
  let params: JSONValue?
  let reply: @Sendable (Message) -> Void

  func answer(_ result: Result<JSONValue, RPCError>) { reply(.response(id: id, result: result)) }
}

/// Collects the answers of a batch, which go out together.
private final class BatchAnswers: Sendable {
  private let answers = Mutex<[JSONValue]>([])
  private let expected: Int
  private let send: @Sendable (JSONValue) -> Void

  init(expected: Int, send: @escaping @Sendable (JSONValue) -> Void) {
    self.expected = expected
    self.send = send
  }

  func add(_ message: Message) {
    let complete = answers.withLock { answers -> [JSONValue]? in
      answers.append(message.json)
      return answers.count == expected ? answers : nil
    }
    if let complete { send(.array(complete)) }
  }
}

/// Lets the output speak of its loss to a session that is only just being made.
private final class LostSignal: Sendable {
  private let callback = Mutex<(@Sendable () -> Void)?>(nil)
  var session: (@Sendable () -> Void)? {
    get { callback.withLock { $0 } }
    set { callback.withLock { $0 = newValue } }
  }
  func raise() { session?() }
}

// MARK: - Events

extension Session: EventSink {
  public func taskChanged(_ change: Change, subscription: Int64) { output.send(Events.changed(change, subscription)) }
  public func taskProgressed(_ report: ProgressReport, subscription: Int64) {
    output.send(Events.progressed(report, subscription))
  }
}
