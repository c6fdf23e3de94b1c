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
  /// The files and URLs as they were named, and where they lie, in submit order.
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
    guard !files.contains("") else { throw Arguments.Problem(message: "a file's name must not be empty") }
    guard !files.isEmpty || arguments.value("--text") != "" else {
      throw Arguments.Problem(message: "--text must not be empty where there is no file")
    }
    names = files + [cover].compactMap { $0 }
    let paths = try names.map { SourceURL.isURL($0) ? $0 : try absolute($0) }
    self.paths = paths
    let isKept = arguments.has("--keep")
    guard kind != .log || !isKept && !names.contains(where: SourceURL.isURL) else {
      throw Arguments.Problem(message: "a log takes files and folders as they lie there: no URLs, and no --keep")
    }
    var resources: [ResourceDraft]
    if kind == .log {
      resources = [ResourceDraft(source: .paths(paths))]
    } else {
      let named = try SendOrder.role(arguments)
      // With a cover the order of roles is said; without, it follows from the bytes.
      resources = try paths.enumerated().map { index, path in
        let isURL = SourceURL.isURL(path)
        let role = cover == nil ? nil : index == files.count ? ResourceRole.cover : .audio
        return ResourceDraft(
          source: isURL ? .url(path, file: nil) : isKept ? .kept(path: path, file: nil) : .path(path),
          role: try role ?? (isURL ? SourceURL.role(of: path, in: kind, named: named) : nil))
      }
    }
    for role in [ResourceRole.poster, .thumbnail] where arguments.has("--\(role.rawValue)") {
      let fitting = resources.indices.filter { index in
        resources[index].role.map { SendOrder.canDerive(role, from: $0) }
          ?? SendOrder.canDerive(role, from: type(paths[index]), kind)
      }
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

  /// - Throws: `Arguments.Problem` for a word that is no role of a URL's.
  private static func role(_ arguments: Arguments) throws -> ResourceRole? {
    guard let word = arguments.value("--role") else { return nil }
    guard let role = ResourceRole(rawValue: word), SourceURL.roles.contains(role) else {
      let known = SourceURL.roles.map(\.rawValue).joined(separator: ", ")
      throw Arguments.Problem(message: "unknown role \"\(word)\"; known: \(known)")
    }
    return role
  }

  private static func canDerive(_ role: ResourceRole, from source: ResourceRole) -> Bool {
    source == .video || (role == .thumbnail && source == .image)
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
