public import Dispatch
import Synchronization

/// Raised from outside, looked at by work that can't await.
public final class CancelFlag: Sendable {
  private let raised = Atomic<Bool>(false)

  public init() {}

  public var isRaised: Bool { raised.load(ordering: .acquiring) }
  public func raise() { raised.store(true, ordering: .releasing) }

  /// - Throws: `CancellationError` once it is raised.
  public func check() throws(CancellationError) {
    if isRaised { throw CancellationError() }
  }
}

/// Work that blocks on disks or burns CPU, kept away from Swift's cooperative pool, which has one thread per core and
/// stalls every task of the process when those wait.
public enum Blocking {
  /// Runs `work` on `queue`. A cancel of the Swift task raises the flag; the work looks at it between its chunks and
  /// alone decides how it ends, so that what was done and what is said never differ.
  public static func run<Result: Sendable>(
    on queue: DispatchQueue, _ work: @escaping @Sendable (CancelFlag) throws -> Result
  ) async throws -> Result {
    let flag = CancelFlag()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        queue.async { continuation.resume(with: Swift.Result { try work(flag) }) }
      }
    } onCancel: {
      flag.raise()
    }
  }
}
