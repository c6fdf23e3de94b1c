import Foundation
import HTTP
import JSON
import Synchronization
import TaskConfig
import TaskModel
import TaskTestSupport
import Uploads

/// A task with exports in a folder, and the service under test.
struct Fixture {
  let folder: TemporaryFolder
  var task: SendTask

  init(sizes: [Int], name: String = "my photo.jpg", account: String = "me") throws {
    folder = try TemporaryFolder()
    var resources: [Resource] = []
    for (index, size) in sizes.enumerated() {
      let path = try folder.write(.sample(size, seed: UInt64(index)), to: "export-\(index)")
      let identity = SourceIdentity(size: 1, modifiedNs: 0, changedNs: 0, inode: 0)
      var resource = Resource(
        index: index, role: .image, source: .path("/secret/source"), name: name, sourceMime: "image/png",
        identity: identity)
      resource.export = ExportedFile(
        file: "export-\(index)", mime: "image/jpeg", size: Int64(size), md5: try Self.sum("md5sum", path),
        sha256: try Self.sum("sha256sum", path), width: 40, height: 30)
      resource.state = .exported
      resources.append(resource)
    }
    task = SendTask(
      id: "0190-task", key: "key-1", account: account, kind: .feedPost, lane: "feed", destination: "d",
      state: .uploading, urgency: .normal, resources: resources, createdAt: 0)
    task.attempt = 2
  }

  func service(_ credential: CredentialSource, now: Int64 = 0, partSize: Int64 = 5 << 20) -> UploadService {
    var config = Config()
    config.uploads.stallTimeoutMs = 20_000
    config.uploads.partSize = partSize
    config.destinations["d"] = Destination(credential: credential, delivery: .journal(path: "/dev/null"))
    return UploadService(
      config: CurrentConfig(config), http: HTTPClient(), exportsFolder: folder.path, clock: StillClock(time: now),
      frontEnds: NoFrontEnds())
  }

  private static func sum(_ program: String, _ path: String) throws -> String {
    String(String(decoding: try Command.run(program, [path]), as: UTF8.self).prefix { $0 != " " })
  }
}

/// Keeps nothing.
struct NoMemory: UploadMemory {
  var saved: JSONValue? { nil }
  func save(_ state: JSONValue) async throws {}
  func discard() async throws {}
}

/// Keeps what is saved, and remembers what was given up.
final class TestMemory: UploadMemory {
  private let state = Mutex<(saved: JSONValue?, discarded: [JSONValue], all: [JSONValue])>((nil, [], []))

  init(_ saved: JSONValue? = nil) { state.withLock { $0.saved = saved } }

  var saved: JSONValue? { state.withLock { $0.saved } }
  var discarded: [JSONValue] { state.withLock { $0.discarded } }
  /// Everything that was ever saved.
  var all: [JSONValue] { state.withLock { $0.all } }

  func save(_ new: JSONValue) async throws {
    state.withLock { state in
      state.saved = new
      state.all.append(new)
    }
  }

  func discard() async throws {
    state.withLock { state in
      if let saved = state.saved { state.discarded.append(saved) }
      state.saved = nil
    }
  }
}

extension UploadSession {
  func upload(
    _ resource: Resource, of task: SendTask, progress: @escaping @Sendable (Int64) -> Void
  ) async throws -> UploadResult {
    try await upload(resource, of: task, memory: NoMemory(), progress: progress)
  }
}

/// What a progress closure was told.
final class Told: Sendable {
  private let state = Mutex<[Int64]>([])
  var values: [Int64] { state.withLock { $0 } }
  func note(_ value: Int64) { state.withLock { $0.append(value) } }
  func isFirst() -> Bool {
    state.withLock { state in
      state.append(0)
      return state.count == 1
    }
  }
}

extension TestServer {
  /// Where it plays the business service.
  var credentialSource: CredentialSource { .http(HTTPTarget(url: url + "/uploads")) }

  /// Answers every credential request with this one for resource 0.
  func issue(_ credential: JSONObject) throws {
    var credential = credential
    credential["index"] = 0
    let answer = JSONWriter.text(["uploads": .array([.object(credential)])])
    let rule: JSONValue = ["match": "POST", "times": 0, "status": 200, "body": .string(answer)]
    try rules(JSONWriter.text(.array([rule])))
  }
}

/// Two that nobody else wants.
final class TwoSlots: SlotLender {
  let state = Mutex((out: 0, taken: 0))
  func tryTake() -> Bool {
    state.withLock { state in
      guard state.out < 2 else { return false }
      state.out += 1
      state.taken += 1
      return true
    }
  }
  func giveBack() { state.withLock { $0.out -= 1 } }
}
