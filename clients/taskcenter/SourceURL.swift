import TaskModel

/// A file that was given by its URL; pure. What it is, the engine finds when it fetches it, and the kind often leaves no
/// choice; a post or message has to say it before.
enum SourceURL {
  /// What a URL may lead to.
  static let roles: [ResourceRole] = [.image, .video, .audio]

  static func isURL(_ word: String) -> Bool {
    let word = word.prefix(8).lowercased()
    return word.hasPrefix("http://") || word.hasPrefix("https://")
  }

  /// - Parameter named: by `--role`.
  /// - Returns: nil where the kind leaves no choice.
  /// - Throws: `Arguments.Problem` where neither the person nor the URL's ending tells.
  static func role(of url: String, in kind: TaskKind, named: ResourceRole?) throws(Arguments.Problem) -> ResourceRole? {
    if let named { return named }
    guard kind == .feedPost || kind == .message else { return nil }
    let path = url.prefix { $0 != "?" && $0 != "#" }
    let name = path.split(separator: "/").dropFirst(2).last ?? ""
    let ending = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    if let role = endings.first(where: { $0.value.contains(ending) })?.key { return role }
    throw Arguments.Problem(
      message: "what is at \(PlainText.of(String(path)))? Its name does not tell; say --role image, video or audio")
  }

  private static let endings: [ResourceRole: Set<String>] = [
    .image: ["jpg", "jpeg", "png", "heic", "heif", "webp", "gif", "avif", "tif", "tiff"],
    .video: ["mp4", "m4v", "mov", "mkv", "webm", "avi", "mts", "m2ts", "3gp"],
    .audio: ["mp3", "m4a", "aac", "ogg", "oga", "opus", "flac", "wav"],
  ]
}
