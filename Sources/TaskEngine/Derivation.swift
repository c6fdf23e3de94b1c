import TaskModel

/// The resources that are made from other resources: a video's poster, a picture's thumbnail. They stand behind those that
/// were submitted, and go up and are delivered like them. Pure.
enum Derivation {
  /// - Parameters:
  ///   - resources: as submitted, in order.
  ///   - drafts: what was asked for with each of them.
  /// - Throws: `EngineError.invalidSubmission`, naming the place, where nothing of that sort can be made.
  static func derived(from resources: [Resource], _ drafts: [ResourceDraft]) throws(EngineError) -> [Resource] {
    var found: [Resource] = []
    for (resource, draft) in zip(resources, drafts) {
      for (number, role) in draft.derive.enumerated() {
        let pointer = "/resources/\(resource.index)/export/derive/\(number)"
        guard draft.derive[..<number].allSatisfy({ $0 != role }) else {
          throw .invalidSubmission(pointer: pointer, message: "\(role.rawValue) is named twice")
        }
        guard sources(of: role).contains(resource.role) else {
          throw .invalidSubmission(
            pointer: pointer, message: "\(article(resource.role)) \(resource.role.rawValue) has no \(role.rawValue)")
        }
        found.append(
          Resource(
            index: resources.count + found.count, role: role, derivedFrom: resource.index, source: resource.source,
            name: FileName.derived(resource.name, role), sourceMime: resource.sourceMime, identity: resource.identity))
      }
    }
    return found
  }

  private static func sources(of role: ResourceRole) -> [ResourceRole] {
    switch role {
    case .poster: [.video]
    case .thumbnail: [.video, .image, .cover]
    case .image, .video, .audio, .cover, .archive: []
    }
  }

  private static func article(_ role: ResourceRole) -> String {
    "aeiou".contains(role.rawValue.prefix(1)) ? "an" : "a"
  }
}
