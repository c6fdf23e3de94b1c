import JSON
import MediaTypes
import SourceFiles
import TaskConfig
import TaskModel

/// Which resources a kind may have, and in which roles; pure. Where a submitter names no role, the bytes decide.
struct KindRules {
  let kinds: Config.Kinds

  /// - Parameter types: of the submission's resources, in order.
  /// - Returns: the role of each resource.
  /// - Throws: `EngineError.invalidSubmission` or `.invalidSource`, naming the place.
  func roles(of submission: Submission, types: [MediaType?]) throws(EngineError) -> [ResourceRole] {
    let hasAudio = zip(submission.resources, types).contains {
      $0.role == .audio || $0.role == nil && $1?.family == .audio
    }
    var roles: [ResourceRole] = []
    for (index, (resource, type)) in zip(submission.resources, types).enumerated() {
      if let role = resource.role, role.isDerived {
        throw invalid("/resources/\(index)/role", "a \(role.rawValue) is asked for with export.derive of its source")
      }
      let role: ResourceRole
      switch (resource.role, type) {
      case (let named?, _): role = named
      case (nil, let type?): role = try inferredRole(submission.kind, type, beside: hasAudio, at: index)
      case (nil, nil): role = try onlyRole(submission.kind, at: index)
      }
      try check(type, fits: role, in: submission.kind, at: index)
      roles.append(role)
    }
    try checkShape(submission, roles)
    if let least = submission.minResources, !(1...max(1, roles.count)).contains(least) {
      throw invalid("/minResources", "must be 1 to \(roles.count), the number of resources")
    }
    return roles
  }

  /// Of what has not been seen yet.
  private func onlyRole(_ kind: TaskKind, at index: Int) throws(EngineError) -> ResourceRole {
    switch kind {
    case .avatar: return .image
    case .chatVideo: return .video
    case .log: return .archive
    case .feedPost, .message:
      let allowed = allowedRoles(kind).map(\.rawValue).joined(separator: ", ")
      throw invalid("/resources/\(index)/role", "is needed with a URL: a \(kind.rawValue) takes \(allowed)")
    }
  }

  private func inferredRole(
    _ kind: TaskKind, _ type: MediaType, beside hasAudio: Bool, at index: Int
  ) throws(EngineError) -> ResourceRole {
    switch (kind, type.family) {
    case (.log, _): return .archive
    case (.chatVideo, .image) where type.canMove: return .video
    case (.feedPost, .image) where hasAudio: return .cover
    case (_, .image): return .image
    case (_, .video): return .video
    case (_, .audio): return .audio
    case (_, .other):
      throw .invalidSource(
        Failure(
          .unsupported, "this is no picture, video or audio (found \(type.mime) by its bytes)", remedy: .needsUser),
        pointer: source(index))
    }
  }

  private func check(
    _ type: MediaType?, fits role: ResourceRole, in kind: TaskKind, at index: Int
  ) throws(EngineError) {
    if let type, !type.fits(role) {
      throw .invalidSource(
        Failure(.unsupported, "is no \(role.rawValue) (found \(type.mime) by its bytes)", remedy: .needsUser),
        pointer: source(index))
    }
    guard allowedRoles(kind).contains(role) else {
      let allowed = allowedRoles(kind).map(\.rawValue).joined(separator: ", ")
      throw invalid("/resources/\(index)/role", "a \(kind.rawValue) takes \(allowed), not \(role.rawValue)")
    }
  }

  private func allowedRoles(_ kind: TaskKind) -> [ResourceRole] {
    switch kind {
    case .feedPost: [.image, .video, .audio, .cover]
    case .chatVideo: [.video]
    case .message: [.image, .video]
    case .avatar: [.image]
    case .log: [.archive]
    }
  }

  private func checkShape(_ submission: Submission, _ roles: [ResourceRole]) throws(EngineError) {
    let count = roles.count
    switch submission.kind {
    case .feedPost: try checkFeedPost(roles)
    case .chatVideo where count != 1: throw invalid("/resources", "a chatVideo has exactly one video, found \(count)")
    case .avatar where count != 1: throw invalid("/resources", "an avatar is exactly one image, found \(count)")
    case .log where count != 1: throw invalid("/resources", "a log needs at least one file or folder")
    case .message where count == 0:
      try KindRules.checkText(of: submission.payload, pointer: "/resources")
    case .chatVideo, .message, .avatar, .log: break
    }
  }

  /// Of a message that has no resources.
  static func checkText(of payload: JSONValue?, pointer: String) throws(EngineError) {
    guard let text = payload?["text"]?.string, !text.isEmpty else {
      throw .invalidSubmission(pointer: pointer, message: "a message without resources needs payload.text")
    }
  }

  private func checkFeedPost(_ roles: [ResourceRole]) throws(EngineError) {
    let images = roles.count { $0 == .image }
    let videos = roles.count { $0 == .video }
    let audios = roles.count { $0 == .audio }
    let covers = roles.count { $0 == .cover }
    switch (images, videos, audios, covers) {
    case (1...kinds.feedPost.maxImages, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 1): return
    case (0, 0, 0, 0): throw invalid("/resources", "a feedPost needs images, one video, or one audio with its cover")
    case (_, 0, 0, 0):
      throw invalid("/resources", "a feedPost takes at most \(kinds.feedPost.maxImages) images, found \(images)")
    case (0, 0, 1, 0): throw invalid("/resources", "an audio post needs a cover image")
    default:
      throw invalid(
        "/resources",
        "a feedPost is 1 to \(kinds.feedPost.maxImages) images, one video, or one audio with its cover; found "
          + "\(images) images, \(videos) videos, \(audios) audios, \(covers) covers")
    }
  }

  private func source(_ index: Int) -> String { "/resources/\(index)/source/path" }
  private func invalid(_ pointer: String, _ message: String) -> EngineError {
    .invalidSubmission(pointer: pointer, message: message)
  }
}
