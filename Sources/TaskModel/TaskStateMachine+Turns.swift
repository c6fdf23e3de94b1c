// Turns: when an attempt may begin, what a wait ends in, what a dead engine left.

extension TaskStateMachine {
  mutating func queue() {
    move(to: .queued)
    settleResources()
    task.waitingFor = (task.notBefore ?? 0) > now ? .notBefore : .slot
  }

  /// Puts every resource back to what is true of it while nothing runs. Not after a delivery that may have arrived: what is
  /// repeated under its key must be the same, without what failed then.
  mutating func settleResources() {
    for index in task.resources.indices where !task.resources[index].isDone {
      if isGivenUp(index) { continue }
      task.resources[index].failure = nil
      task.resources[index].repeats = 0
      move(index, to: task.resources[index].export == nil ? .pending : .exported)
    }
  }

  func isGivenUp(_ index: Int) -> Bool {
    task.deliveriesInDoubt > 0 && task.resources[index].state == .failed
  }

  mutating func turnCame() -> [TaskAction] {
    guard task.state == .queued else { return [] }
    task.attempt = task.failedAttempts + 1
    task.hasProgressed = false
    move(to: .exporting)
    let missing = task.resources.indices.filter { !task.resources[$0].isDone && !isGivenUp($0) }
    let exports = missing.filter { task.resources[$0].export == nil }.map { TaskAction.export($0) }
    return exports + startUploads(missing.filter { task.resources[$0].export != nil })
  }

  mutating func wake() -> [TaskAction] {
    guard task.state == .retrying else { return [] }
    if isExpired {
      fail(expiry(task.failure))
    } else {
      queue()
    }
    return []
  }

  mutating func rescued() -> [TaskAction] {
    guard task.state.isRunning else { return [] }
    if task.state == .delivering, task.cancelRequested {
      fail(Self.unknownDelivery)
    } else {
      queue()
    }
    return []
  }

  var isExpired: Bool { pendingMs >= policy.expireAfterMs }

  func expiry(_ cause: Failure?) -> Failure {
    let hours = Double(policy.expireAfterMs) / 3_600_000
    let told = hours >= 1 ? "\(Int(hours)) h" : "\(policy.expireAfterMs) ms"
    return Failure(
      .expired, "could not be sent for \(told)" + (cause.map { "; last: \($0.message)" } ?? ""), remedy: .needsUser,
      resource: cause?.resource, httpStatus: cause?.httpStatus)
  }

  mutating func fail(_ failure: Failure) {
    task.failure = failure
    abandonUploads()
    move(to: .failed, because: failure)
  }
}
