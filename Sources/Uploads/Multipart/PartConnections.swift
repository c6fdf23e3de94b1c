import TaskModel

/// The connections that one file's parts go up on: one of its own, which came with its upload slot, and others as long as
/// there are slots that nobody else wants. Each of those is borrowed for one part.
struct PartConnections {
  /// More hardly help, and each can lose its part in a crash.
  static let maximum = 3

  struct Connection: Sendable {
    /// nil: the file's own.
    fileprivate let lender: (any SlotLender)?

    /// When its part is up, or will not be.
    func giveBack() { lender?.giveBack() }
  }

  private let lender: (any SlotLender)?
  private var isOwnFree = true
  private var inUse = 0

  init(lender: (any SlotLender)?) { self.lender = lender }

  /// - Returns: nil where each is busy, or wanted by others. Every one is given back once, and noted as free.
  mutating func take() -> Connection? {
    guard inUse < Self.maximum else { return nil }
    if isOwnFree {
      isOwnFree = false
      inUse += 1
      return Connection(lender: nil)
    }
    guard let lender, lender.tryTake() else { return nil }
    inUse += 1
    return Connection(lender: lender)
  }

  mutating func noteFree(_ connection: Connection) {
    inUse -= 1
    if connection.lender == nil { isOwnFree = true }
  }
}
