import JSONRPC
import SQLite
import TaskEngine
import TaskProtocol
import TaskStorage

extension RPCError {
  /// What a front end is told of an error of the engine's.
  init(of error: any Error) {
    switch error {
    case let error as RPCError: self = error
    case is CancellationError: self = .requestCancelled()
    case let error as SQLiteError where error.isDiskFull: self = .storageFull()
    case let error as SQLiteError: self = .storeUnavailable(error.description)
    case let error as StoreError: self = .storeUnavailable(error.description)
    case let error as EngineError: self = RPCError(of: error)
    default: self = .internalError("\(error)")
    }
  }

  private init(of error: EngineError) {
    switch error {
    case .notFound(let id): self = .notFound(id)
    case .keyConflict(let id): self = .keyConflict(id)
    case .laneBusy(let id): self = .laneBusy(id)
    case .invalidState(let state, let verb): self = .invalidState(state, verb)
    case .invalidSource(let failure, let pointer): self = .invalidSource(failure, pointer: pointer)
    case .invalidSubmission(let pointer, let message):
      self = .invalidParams(.init(pointer: pointer, message: message))
    case .shuttingDown: self = .storeUnavailable("the engine is shutting down")
    }
  }
}
