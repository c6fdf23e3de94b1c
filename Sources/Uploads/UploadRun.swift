import TaskModel

/// One try of one upload, whatever the protocol: look for what an earlier try has left, else create; send until all is
/// there; finish. Where the server contradicts, it is asked what it has, and it is right.
///
/// Both repairs are bounded, so that no server can keep a try going for ever: a look for what there is (`resume`) comes
/// twice without progress at most, a new beginning twice at all. Progress is more than the server ever had.
struct UploadRun<Endpoint: UploadEndpoint> {
  let endpoint: Endpoint
  let checkpoint: UploadCheckpoint
  /// Bytes of the file.
  let size: Int64
  let watch: UploadWatch
  let progress: UploadProgress

  private static var maximumRepairs: Int { 2 }
  private static var maximumCreations: Int { 2 }

  /// - Throws: `Failure`, `CancellationError`, or the store's error.
  func run() async throws -> UploadResult {
    do {
      return try await go()
    } catch {
      await endpoint.letGo()
      // With a fresh credential the same checkpoint goes on.
      if let failure = error as? Failure, !failure.isPermanent, failure.remedy != .refreshCredential {
        try? await checkpoint.keepAdvance(by: Endpoint.name)
      }
      throw error
    }
  }

  private func go() async throws -> UploadResult {
    var creations = 0
    var repairs = 0
    while true {
      var held: Int64
      switch try await found() {
      case .finished(let result): return result
      case .holds(let bytes):
        held = bytes
        _ = checkpoint.advance(to: bytes)
      case .lost:
        if checkpoint.state?.underWay.isEmpty == false { try await checkpoint.discard() }
        guard creations < Self.maximumCreations else {
          throw Failure(.uploadLost, "storage loses each upload that is begun", remedy: .retry)
        }
        creations += 1
        try await endpoint.create { [checkpoint] in try await checkpoint.save($0, by: Endpoint.name) }
        held = 0
      }
      do {
        try await send(from: &held) { repairs = 0 }
        try Task.checkCancellation()
        return try await endpoint.finish()
      } catch let failure as Failure where failure.asksForALook && repairs < Self.maximumRepairs {
        repairs += 1
      }
    }
  }

  private func found() async throws -> FoundUpload {
    guard let saved = try await checkpoint.resumable(by: Endpoint.name) else { return .lost }
    return try await endpoint.find(saved)
  }

  private func send(from held: inout Int64, _ advanced: () -> Void) async throws {
    var isFirst = true
    // An empty file needs its request too.
    while held < size || size == 0 && isFirst {
      try Task.checkCancellation()
      if !isFirst, await watch.isExpiring() {
        throw Failure(.forbidden, "the upload credential is about to expire", remedy: .refreshCredential)
      }
      let outcome: Result<Int64, any Error>
      do {
        outcome = .success(try await endpoint.append(from: held, progress: progress))
      } catch {
        outcome = .failure(error)
      }
      let reached = (try? outcome.get()) ?? endpoint.heldBytes
      if reached > held { await watch.moved() }
      if checkpoint.advance(to: reached) {
        advanced()
        await watch.advanced()
      }
      isFirst = false
      let now = try outcome.get()
      guard now > held || size == 0 else {
        throw Failure(.badAnswer, "storage takes bytes and has no more than before", remedy: .resume)
      }
      held = now
    }
  }
}

/// Who wants to know how a try goes.
struct UploadWatch: Sendable {
  /// The server took a piece, perhaps one that it had before: the credential is good.
  var moved: @Sendable () async -> Void = {}
  /// The server has more than it ever had.
  var advanced: @Sendable () async -> Void = {}
  /// Whether the credential will not do for another piece. Asked between pieces only, so that each credential brings some.
  var isExpiring: @Sendable () async -> Bool = { false }
}

extension Failure {
  /// The server knows something else than we do.
  fileprivate var asksForALook: Bool { remedy == .resume || remedy == .restart && code == .uploadLost }
}
