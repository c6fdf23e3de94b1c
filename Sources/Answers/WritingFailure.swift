public import Platform
public import TaskModel

extension Failure {
  /// Why a file at the destination can't be written, by what the system says.
  /// - Parameter what: such as "the journal can't be written".
  public init(writing what: String, _ error: SystemError, outcomeUnknown: Bool = false) {
    let (code, remedy): (FailureCode, Remedy) =
      if error.isDiskFull {
        (.diskFull, .needsUser)
      } else if error.isForbidden {
        (.forbidden, .needsUser)
      } else {
        (.unavailable, .retry)
      }
    self.init(code, "\(what): \(error.reason)", remedy: remedy, outcomeUnknown: outcomeUnknown)
  }
}
