import Digest
import ExportProtocol
import JSON
import Synchronization
import TaskModel

/// Which finished exports there are, by what they were made of: the same source and the same order make the same file.
final class ExportIndex: Sendable {
  private let files = Mutex<[String: [ExportedFile]]>([:])

  /// - Throws: `DigestError`.
  static func key(_ job: ExportJob, _ identity: SourceIdentity) throws -> String {
    let order = ExportOrder(id: 0, job: job, name: "", output: "")
    // Every field: a file of the same size and time in another place may be another one.
    let parts: JSONValue = [
      "order": order.json, "size": .int(identity.size), "modifiedNs": .int(identity.modifiedNs),
      "changedNs": .int(identity.changedNs), "inode": .string(String(identity.inode)),
    ]
    var digest = try DigestStream(.sha256)
    Array(CanonicalJSON.text(parts).utf8).withUnsafeBytes { digest.update($0) }
    return Hex.text(digest.finish())
  }

  func add(_ file: ExportedFile) {
    guard let key = file.key else { return }
    files.withLock { $0[key, default: []].append(file) }
  }

  func remove(_ file: ExportedFile) {
    guard let key = file.key else { return }
    files.withLock { files in
      files[key]?.removeAll { $0.file == file.file }
      if files[key]?.isEmpty == true { files[key] = nil }
    }
  }

  func find(_ key: String) -> [ExportedFile] { files.withLock { $0[key] ?? [] } }
}
