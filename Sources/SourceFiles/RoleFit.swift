public import MediaTypes
public import TaskModel

extension MediaType {
  /// Whether a file of this type can be such a resource.
  public func fits(_ role: ResourceRole) -> Bool {
    switch role {
    case .image, .cover: family == .image
    case .video, .poster: family == .video || canMove
    case .thumbnail: family == .image || family == .video
    // An MP4 may hold sound alone; the worker finds out.
    case .audio: family == .audio || family == .video
    case .archive: true
    }
  }
}
