import Foundation
import Synchronization
import TaskModel
import TaskStorage

/// A store in a folder of its own; a crash is simulated by opening it again.
final class StoreFolder {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID().uuidString)")
  let told = Told()
  var path: String { folder.appendingPathComponent("taskcenter.db").path }

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
  deinit { try? FileManager.default.removeItem(at: folder) }

  func open() throws -> TaskStore {
    try TaskStore(path: path, clock: { 42 }, observer: { [told] in told.add($0) })
  }
}

final class Told: Sendable {
  private let changes = Mutex<[Change]>([])
  func add(_ more: [Change]) { changes.withLock { $0 += more } }
  var all: [Change] { changes.withLock { $0 } }
  var cursors: [Int64] { all.map(\.cursor) }
}

func sample(_ id: String, key: String? = nil, lane: String = "chat") -> SendTask {
  var resource = Resource(
    index: 0, role: .image, source: .path("/p/ä.jpg"), name: "ä.jpg", sourceMime: "image/jpeg",
    identity: SourceIdentity(size: 9, modifiedNs: -5, changedNs: 6, inode: .max))
  resource.export = ExportedFile(
    file: "e", mime: "image/jpeg", size: 3, md5: "m", sha256: "s", width: 4, height: 5, durationMs: 6, rung: "2048")
  resource.state = .exported
  return SendTask(
    id: id, key: key, account: "me", kind: .message, lane: lane, destination: "local", state: .queued,
    urgency: .interactive, notBefore: 77, payload: ["text": "hello"], resources: [resource], createdAt: 41)
}
