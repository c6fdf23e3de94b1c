/// Why a store can't be used.
public enum StoreError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Written by a newer program; it was left untouched.
  case newerVersion(found: Int, supported: Int)
  /// Another state than the writer expected: a bug, never a race, since there is one writer.
  case unexpectedState(task: String, expected: String)
  /// A stored string that this program has no word for.
  case unknownValue(column: String, value: String)
  /// The file is no database, or damaged.
  case corrupt(String)

  public var description: String {
    switch self {
    case .newerVersion(let found, let supported):
      "the store has version \(found), this program knows versions up to \(supported); use a newer taskcenter"
    case .unexpectedState(let task, let expected): "task \(task) is not in state \(expected) any more"
    case .unknownValue(let column, let value): "unknown \(column) \"\(value)\" in the store"
    case .corrupt(let reason): "the store is damaged: \(reason)"
    }
  }
}
