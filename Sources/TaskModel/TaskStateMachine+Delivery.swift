// The delivery: intent, outcome, doubt.

extension TaskStateMachine {
  mutating func deliveryStarted() -> [TaskAction] {
    let isReady = task.state == .uploading && task.resources.allSatisfy { $0.isDone || $0.state == .failed }
    guard isReady else { return [] }
    let mode: DeliveryMode = task.deliveriesInDoubt > 0 ? .resend : .send
    task.deliveriesInDoubt += 1
    task.hasProgressed = false
    move(to: .delivering)
    return [.deliver(mode)]
  }

  mutating func delivered(_ remoteId: String?) -> [TaskAction] {
    guard task.state == .delivering else { return [] }
    task.remoteId = remoteId
    task.failure = nil
    task.deliveriesInDoubt = 0
    move(to: .sent)
    return dropExports()
  }

  mutating func deliveryFailed(_ failure: Failure) -> [TaskAction] {
    guard task.state == .delivering else { return [] }
    // A refusal is the service's last word on this key; any other clear "no" speaks of this one request only. What may
    // have arrived stays in doubt, also where it can't be tried again now (a journal on a disk that is full).
    if !failure.outcomeUnknown { task.deliveriesInDoubt = failure.isPermanent ? 0 : task.deliveriesInDoubt - 1 }
    if task.cancelRequested {
      if task.deliveriesInDoubt == 0 {
        move(to: .canceled)
        return dropExports()
      }
      fail(Self.unknownDelivery)
      return []
    }
    if failure.isPermanent {
      fail(failure)
      return []
    }
    return postpone(failure)
  }
}
