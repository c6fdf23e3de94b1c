import JSON

// The exports and uploads of one attempt, and the judgement at its end.

extension TaskStateMachine {
  /// Whether an event about this resource still means anything.
  func isCurrent(_ index: Int) -> Bool {
    (task.state == .exporting || task.state == .uploading) && task.resources.indices.contains(index)
      && !task.resources[index].isDone
  }

  mutating func sourceFetched(_ index: Int, _ refresh: SourceRefresh) -> [TaskAction] {
    guard isCurrent(index) else { return refresh.source.file.map { [.removeSource($0)] } ?? [] }
    task.resources[index].source = refresh.source
    task.resources[index].identity = refresh.identity
    task.resources[index].sourceMime = refresh.mime
    return []
  }

  mutating func stepStarted(_ index: Int, _ state: ResourceState) -> [TaskAction] {
    if isCurrent(index) { move(index, to: state) }
    return []
  }

  mutating func exportFinished(_ index: Int, _ file: ExportedFile) -> [TaskAction] {
    guard isCurrent(index) else { return [.removeExport(file)] }
    let resource = task.resources[index]
    task.resources[index].export = file
    if !resource.role.isDerived {
      task.resources[index].name = FileName.of(resource.name, from: resource.sourceMime, exportedAs: file.mime)
    }
    move(index, to: .exported)
    return startUploads([index])
  }

  mutating func exportLost(_ index: Int) -> [TaskAction] {
    guard isCurrent(index) else { return [] }
    guard task.resources[index].repeats <= policy.resourceRetries else {
      return stepFailed(index, Failure(.integrityMismatch, "each export is lost before it goes up", remedy: .restart))
    }
    task.resources[index].repeats += 1
    let removal = dropExport(of: index)
    move(index, to: .pending)
    // What still lies there is another file than was made.
    return [removal, .export(index)].compactMap { $0 }
  }

  /// The uploads of these newly exported resources; enters `uploading` with the last export.
  mutating func startUploads(_ fresh: [Int]) -> [TaskAction] {
    if task.state == .exporting, task.isExported { move(to: .uploading) }
    return fresh.filter { task.resources[$0].state == .exported }.map { .upload($0) }
  }

  mutating func uploadSaved(_ index: Int, _ state: JSONValue) -> [TaskAction] {
    if isCurrent(index) { task.resources[index].uploadState = state } else { abandoned.append(state) }
    return []
  }

  mutating func uploadDiscarded(_ index: Int) -> [TaskAction] {
    if isCurrent(index) { abandonUpload(of: index) }
    return []
  }

  mutating func uploadFinished(_ index: Int, _ result: UploadResult) -> [TaskAction] {
    guard isCurrent(index), let export = task.resources[index].export else { return [] }
    let resource = task.resources[index]
    task.resources[index].uploadState = nil
    task.resources[index].url = result.url
    task.resources[index].uploadProtocol = result.uploadProtocol
    task.resources[index].receipt = Receipt(
      url: result.url, mime: export.mime, size: export.size, md5: export.md5, sha256: export.sha256, etag: result.etag,
      name: resource.name, width: export.width, height: export.height, durationMs: export.durationMs)
    task.resources[index].failure = nil
    task.hasProgressed = true
    move(index, to: .uploaded)
    return []
  }

  mutating func stepFailed(_ index: Int, _ failure: Failure) -> [TaskAction] {
    guard isCurrent(index) else { return [] }
    var failure = failure.at(resource: index)
    // An upload of bytes that are dropped has brought nothing.
    if failure.madeProgress, failure.code != .integrityMismatch { task.hasProgressed = true }
    // Told of this step only.
    failure.madeProgress = false
    // What was exported is not what lies there any more: only a new export helps.
    let removal = failure.code == .integrityMismatch ? dropExport(of: index) : nil
    let step: TaskAction = task.resources[index].export == nil ? .export(index) : .upload(index)
    let isHiccup =
      !failure.isPermanent && !failure.isOffline && !failure.needsFrontEnd && failure.retryAfterMs == nil
    if isHiccup, task.resources[index].repeats < policy.resourceRetries {
      task.resources[index].repeats += 1
      return [removal, step].compactMap { $0 }
    }
    task.resources[index].failure = failure
    move(index, to: .failed, because: failure)
    if failure.isPermanent, task.partial == .fail {
      fail(failure)
      return [.stopWork] + [removal].compactMap { $0 }
    }
    // The others go on; `workEnded` judges. Without this one, the rest may be complete.
    return [removal].compactMap { $0 } + startUploads([])
  }

  mutating func workEnded() -> [TaskAction] {
    guard task.state == .exporting || task.state == .uploading else { return [] }
    let failures = task.resources.compactMap { $0.state == .failed ? $0.failure : nil }
    // What was tried says more than what was not.
    let cause = failures.first { !$0.isPermanent && !$0.isUntried } ?? failures.first { !$0.isPermanent }
    if let cause, task.deliveriesInDoubt == 0 { return postpone(cause) }
    guard failures.count + task.uploadedCount == task.resources.count else { return [] }  // stopped half-way
    guard failures.isEmpty || canPublishPart else {
      fail(failures[0])
      return []
    }
    if task.state == .exporting { move(to: .uploading) }
    task.waitingFor = .lane
    return [.awaitLane]
  }

  var canPublishPart: Bool {
    let count = task.resources.count { $0.isDone && !$0.role.isDerived }
    return task.partial == .publish && count >= max(1, task.minResources)
  }

  /// After a failure that may pass: wait, or end where waiting has no sense any more.
  mutating func postpone(_ cause: Failure) -> [TaskAction] {
    if isExpired {
      fail(expiry(cause))
      return []
    }
    if cause.needsFrontEnd {
      wait(for: .frontEnd, until: nil, cause)
      return []
    }
    if cause.isOffline {
      wait(for: .network, until: now + policy.networkProbeMs, cause)
      return []
    }
    if !task.hasProgressed, !cause.isUntried { task.failedAttempts += 1 }
    if task.failedAttempts >= policy.attempts {
      if task.state != .delivering, canPublishPart {
        if task.state == .exporting { move(to: .uploading) }
        task.waitingFor = .lane
        return [.awaitLane]
      }
      fail(
        Failure(
          .attemptsExhausted, "gave up after \(task.failedAttempts) attempts; last: \(cause.message)",
          remedy: .needsUser, resource: cause.resource, httpStatus: cause.httpStatus))
      return []
    }
    let delay = policy.backoff.delayMs(afterFailedAttempts: max(task.failedAttempts, 1), jitter: jitter)
    let wish = min(cause.retryAfterMs ?? 0, RetryPolicy.longestWishMs)
    wait(for: cause.retryAfterMs == nil ? .backoff : .host, until: now + max(delay, wish), cause)
    return []
  }

  mutating func wait(for reason: WaitReason, until time: Int64?, _ cause: Failure) {
    task.failure = cause
    move(to: .retrying, because: cause)
    task.waitingFor = reason
    task.nextAttemptAt = time
  }
}
