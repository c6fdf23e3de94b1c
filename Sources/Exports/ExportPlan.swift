import ExportProtocol
import TaskConfig
import TaskModel

/// Which export a resource gets; pure (docs/exports.md).
enum ExportPlan {
  /// A feed video up to this size is passed on cleaned of its metadata where it can be; larger ones are made smaller.
  static let feedRemuxLimit: Int64 = 10 << 20

  static func job(for resource: Resource, of task: SendTask, size: Int64, kinds: Config.Kinds) -> ExportJob {
    switch resource.role {
    case .poster: return .poster(PosterJob())
    case .thumbnail: return .thumbnail(ThumbnailJob())
    case .image, .cover: return .image(image(task.kind, kinds))
    case .video: return .video(video(task.kind, size: size, kinds))
    case .audio: return .audio
    case .archive: return .archive(entries(resource.source.paths))
    }
  }

  private static func image(_ kind: TaskKind, _ kinds: Config.Kinds) -> ImageJob {
    let feed = kinds.feedPost.image
    switch kind {
    case .feedPost:
      return ImageJob(
        longEdge: feed.longEdge, quality: feed.quality, format: feed.format == .heic ? .heic : .jpeg)
    case .avatar: return ImageJob(longEdge: 640, cropSquare: true)
    case .message, .chatVideo, .log: return ImageJob(longEdge: 1600)
    }
  }

  private static func video(_ kind: TaskKind, size: Int64, _ kinds: Config.Kinds) -> VideoJob {
    guard kind == .feedPost else {
      let chat = kinds.chatVideo
      return VideoJob(.ladder(limit: chat.limit, hardLimit: max(chat.limit, chat.hardLimit)))
    }
    return VideoJob(
      .box(VideoBox(longSide: 960, shortSide: 540, remux: size <= feedRemuxLimit ? .ifClean : .never)))
  }

  /// Names in the archive are those of the files and folders; the worker numbers those that are the same.
  private static func entries(_ paths: [String]) -> [ArchiveEntry] {
    paths.map { ArchiveEntry(path: $0, name: FileName.safe($0)) }
  }
}
