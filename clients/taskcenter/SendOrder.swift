import MediaTypes
import SourceFiles
import TaskModel

/// What `taskcenter send` or `plan` was told: the submission, and the words the person used for its files; pure but for the current
/// folder.
struct SendOrder {
  static let kinds: [(word: String, kind: TaskKind)] = [
    ("feed", .feedPost), ("chat", .chatVideo), ("message", .message), ("avatar", .avatar), ("log", .log),
  ]

  let submission: Submission
  /// The files as they were named, and where they lie, in submit order.
  let names: [String]
  let paths: [String]

  /// - Parameters:
  ///   - verb: what is to be done, for messages.
  ///   - absolute: from a name to a whole path.
  ///   - type: what lies at a path; nil where that can't be known.
  /// - Throws: `Arguments.Problem`; what `absolute` throws.
  init(
    _ arguments: Arguments, verb: String = Send.name,
    absolute: (String) throws -> String = { try Paths.absolute($0) },
    type: (String) -> MediaType? = { path in (try? SourceFile.open(path)).flatMap { try? $0.type() } }
  ) throws {
    let words = SendOrder.kinds.map(\.word)
    guard let word = arguments.rest.first else {
      throw Arguments.Problem(message: "\(verb) what? One of \(words.joined(separator: ", "))")
    }
    guard let kind = SendOrder.kinds.first(where: { $0.word == word })?.kind else {
      throw Arguments.Problem(
        message: "\"\(word)\" can't be sent; one of \(words.joined(separator: ", ")) comes before the files")
    }
    let files = Array(arguments.rest.dropFirst())
    let cover = arguments.value("--cover")
    guard !files.isEmpty || (kind == .message && arguments.value("--text") != nil) else {
      let orText = kind == .message && verb == Send.name ? " Or give --text" : ""
      throw Arguments.Problem(message: "\(verb) \(word): which file?\(orText)")
    }
    guard cover == nil || (kind == .feedPost && files.count == 1) else {
      throw Arguments.Problem(message: "--cover goes with one audio file: taskcenter \(verb) feed SONG --cover PICTURE")
    }
    if let empty = ["--key", "--to", "--account", "--destination", "--cover"].first(where: { arguments.value($0) == "" }
    )
      ?? (files.contains("") ? "a file's name" : nil)
    {
      throw Arguments.Problem(message: "\(empty) must not be empty")
    }
    names = files + [cover].compactMap { $0 }
    let paths = try names.map(absolute)
    self.paths = paths
    var resources: [ResourceDraft]
    if kind == .log {
      resources = [ResourceDraft(source: .paths(paths))]
    } else {
      // With a cover the order of roles is said; without, it follows from the bytes.
      resources = paths.enumerated().map { index, path in
        ResourceDraft(source: .path(path), role: cover == nil ? nil : index == files.count ? .cover : .audio)
      }
    }
    for role in [ResourceRole.poster, .thumbnail] where arguments.has("--\(role.rawValue)") {
      let fitting = resources.indices.filter { Self.canDerive(role, from: type(paths[$0]), kind) }
      guard !fitting.isEmpty, kind != .log else {
        let wanted = role == .poster ? "video" : "picture or video"
        throw Arguments.Problem(message: "--\(role.rawValue): there is no \(wanted) among the files")
      }
      for index in fitting { resources[index].derive.append(role) }
    }
    var submission = Submission(kind: kind, resources: resources, account: arguments.value("--account") ?? "default")
    submission.key = arguments.value("--key")
    submission.lane = arguments.value("--to")
    submission.destination = arguments.value("--destination")
    if let text = arguments.value("--text") { submission.payload = ["text": .string(text)] }
    self.submission = submission
  }

  /// Of a file that can't be read nothing is known; the engine then says what is wrong with it.
  private static func canDerive(_ role: ResourceRole, from type: MediaType?, _ kind: TaskKind) -> Bool {
    guard let type else { return true }
    let isVideo = type.family == .video || (kind == .chatVideo && type.canMove)
    return isVideo || (role == .thumbnail && type.family == .image)
  }

  /// The file or option that a JSON pointer into the request means; empty for what the person did not say.
  func place(of pointer: String) -> String {
    let parts = pointer.split(separator: "/")
    switch parts.first {
    case "resources":
      // A log's files are the paths of its only resource.
      let number = submission.kind == .log ? parts.dropFirst(4).first : parts.dropFirst().first
      guard let index = number.flatMap({ Int($0) }), names.indices.contains(index) else { return "" }
      return names[index]
    case "account": return "--account"
    case "destination": return "--destination"
    case "key": return "--key"
    case "lane": return "--to"
    case "payload": return "--text"
    default: return ""
    }
  }
}
