public import TaskModel

extension MediaType {
  /// Whether a file of this type can be such a resource.
  public func fits(_ role: ResourceRole) -> Bool {
    switch role {
    case .image, .cover: family == .image
    // Made by the engine, never submitted.
    case .poster, .thumbnail: false
    case .video: family == .video || canMove
    // An MP4 may hold sound alone; the worker finds out.
    case .audio: family == .audio || family == .video
    case .archive: true
    }
  }
}
