public import JSON
import JSONRPC
import Synchronization
public import TaskModel
import TaskProtocol

/// The sessions that offered to do something for the engine. The one that offered last is asked first: it is the one that a
/// person has just opened.
public final class FrontEndRegistry: FrontEnds {
  private struct Offer {
    let session: Session
    let capabilities: Capabilities
  }

  private let offers = Mutex<[Offer]>([])
  private let clock: any Clock

  /// A front end that does not answer for so long is taken for lost, in milliseconds.
  static let patienceMs: Int64 = 300_000

  public init(clock: any Clock) { self.clock = clock }

  func add(_ session: Session, _ capabilities: Capabilities) {
    offers.withLock { offers in
      offers.removeAll { $0.session === session }
      offers.append(Offer(session: session, capabilities: capabilities))
    }
  }

  func remove(_ session: Session) { offers.withLock { $0.removeAll { $0.session === session } } }

  public func ask(
    _ method: String, _ params: JSONValue, of capability: FrontEndCapability, account: String
  ) async throws -> JSONValue {
    guard let offer = offer(of: capability, account) else {
      throw Failure(
        .frontEndAbsent, "no front end is attached that takes \(method)", remedy: .retry, needsFrontEnd: true)
    }
    let session = offer.session
    let answer = await withPatience { await session.asked.ask(method, params, send: { session.output.send($0) }) }
    try Task.checkCancellation()
    switch answer {
    case .success(let result)?: return result
    case .failure(let error)?: throw Self.failure(error, method)
    case nil:
      // Where another one is there, or the same one still is, nobody need come for the next try.
      throw Failure(
        .frontEndAbsent, "the front end went, or did not answer \(method)", remedy: .retry,
        needsFrontEnd: self.offer(of: capability, account) == nil, outcomeUnknown: true)
    }
  }

  private func offer(of capability: FrontEndCapability, _ account: String) -> Offer? {
    offers.withLock { $0.last { $0.capabilities.include(capability, account: account) } }
  }

  private func withPatience(
    _ body: @escaping @Sendable () async -> OutgoingRequests.Answer
  ) async -> OutgoingRequests.Answer {
    let clock = clock
    return await withTaskGroup(of: OutgoingRequests.Answer.self) { group in
      group.addTask { await body() }
      group.addTask {
        try? await clock.sleep(milliseconds: Self.patienceMs)
        return nil
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
  }

  /// An error whose data is `{code, permanent, retryAfterMs?}`; without it, something that may pass.
  private static func failure(_ error: RPCError, _ method: String) -> Failure {
    let isPermanent = error.data?["permanent"]?.bool ?? (error.code == -32601)
    let code = error.data?["code"]?.string.flatMap(FailureCode.init(foreign:))
    let message = String(error.message.prefix(Failure.longestForeignMessage))
    return Failure(
      code ?? .refused, message.isEmpty ? "the front end refused \(method)" : message,
      remedy: isPermanent ? .needsUser : .retry, retryAfterMs: error.data?["retryAfterMs"]?.int)
  }
}

extension Capabilities {
  fileprivate func include(_ capability: FrontEndCapability, account: String) -> Bool {
    guard accounts?.contains(account) ?? true else { return false }
    switch capability {
    case .deliver(let kind): return deliver.contains(kind)
    case .credentials: return credentials
    }
  }
}
