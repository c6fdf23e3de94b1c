/// Exit statuses that scripts can trust; from 64 on those of sysexits.h.
enum Exit {
  static let ok: Int32 = 0
  /// A task ended as failed or canceled, or is in no state for what was asked.
  static let failed: Int32 = 1
  static let usage: Int32 = 64
  static let badInput: Int32 = 66
  static let unavailable: Int32 = 69
  /// Something is broken that should not be.
  static let internalError: Int32 = 70
  static let tryAgain: Int32 = 75
  static let interrupted: Int32 = 130
}

/// Ends the program with a sentence on stderr.
struct Stop: Error, Equatable {
  let status: Int32
  let message: String
}
