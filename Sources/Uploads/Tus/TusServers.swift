import Digest
import HTTP
import Synchronization

/// What a tus server can do beyond the core, as it announces by OPTIONS.
struct TusFeatures: Sendable, Hashable {
  var extensions: Set<String> = []
  var checksums: Set<String> = []
  /// Bytes.
  var maxSize: Int64?

  init() {}

  init(_ response: HTTPResponse) {
    extensions = Self.words(response.header("Tus-Extension"))
    checksums = Self.words(response.header("Tus-Checksum-Algorithm"))
    maxSize = response.int("Tus-Max-Size").flatMap { $0 > 0 ? $0 : nil }
  }

  private static func words(_ text: String?) -> Set<String> {
    Set(
      (text ?? "").lowercased().split(separator: ",").map { part in String(part.filter { $0 != " " && $0 != "\t" }) })
  }

  /// The strongest that both know. A server that does not announce any may ignore a wrong one without a word.
  var checksum: DigestAlgorithm? {
    guard extensions.contains("checksum") else { return nil }
    return [.sha256, .sha1, .md5].first { checksums.contains($0.tusName) }
  }

  var takesFileAtCreation: Bool { extensions.contains("creation-with-upload") }
}

extension DigestAlgorithm {
  /// As in `Upload-Checksum`.
  var tusName: String {
    switch self {
    case .md5: "md5"
    case .sha1: "sha1"
    case .sha256: "sha256"
    }
  }
}

/// What the tus servers of this process have announced: each is asked once.
final class TusServers: Sendable {
  private let known = Mutex<[String: TusFeatures]>([:])

  /// No answer is no news: the core does without, and the next upload asks again.
  func features(_ request: HTTPRequest, _ http: HTTPClient) async throws -> TusFeatures {
    let key = String(request.url.prefix { $0 != "?" })
    if let features = known.withLock({ $0[key] }) { return features }
    do {
      let response = try await http.send(request)
      guard response.isSuccess else { return TusFeatures() }
      let features = TusFeatures(response)
      known.withLock { known in
        // One place per object is many places.
        if known.count >= 1_000 { known.removeAll() }
        known[key] = features
      }
      return features
    } catch is HTTPError {
      return TusFeatures()
    }
  }
}
