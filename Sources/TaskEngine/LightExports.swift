import TaskModel

extension SendTask {
  /// Whether the export of a resource takes but a part of a slot: that of a picture, which keeps one thread busy for
  /// most of its time. A film keeps every core busy by itself, also where only a picture of it is wanted; sound and
  /// archives are more than a moment's work.
  func isLightExport(_ index: Int) -> Bool {
    switch resources[index].role {
    case .image, .cover: true
    case .thumbnail: resources[index].derivedFrom.map { resources[$0].role != .video } ?? true
    case .poster, .video, .audio, .archive: false
    }
  }
}
