import Glibc
import JSON
import JSONRPC
import TaskModel
import TaskProtocol

/// `taskcenter send`: click and go.
enum Send: Command {
  static let name = "send"
  static let help = """
    usage: taskcenter send feed|chat|message|avatar|log FILE… [OPTIONS]

      feed      1 to 9 photos, or one video, or one audio file with its cover picture
      chat      one video
      message   text and any photos and videos
      avatar    one picture
      log       files and folders, as one zip

      --text TEXT          the text of a post or message
      --to LANE            the conversation (sends of one lane arrive in order)
      --account NAME       who sends (default: default)
      --destination NAME   where to, by its name in the config
      --key KEY            the same key never sends twice
      --wait               wait for the end: exit status 0 sent, 1 failed or canceled
      --json               print the task as JSON

    Prints the task's id and returns at once; the engine goes on in the background.
    """

  private static let kinds: [String: TaskKind] = [
    "feed": .feedPost, "chat": .chatVideo, "message": .message, "avatar": .avatar, "log": .log,
  ]

  static func run(_ words: [String]) throws -> Int32 {
    let common = try Common(
      words, options: ["--text", "--to", "--account", "--destination", "--key"], flags: ["--wait"])
    let submission = try submission(common.arguments)
    let connection = try common.connect()
    let task = try submit(submission, connection)
    guard common.arguments.has("--wait") else {
      Terminal.print(common.wantsJSON ? JSONWriter.text(task) : task["id"]?.string ?? "")
      return Exit.ok
    }
    let final = try Follow(connection, ids: [task["id"]?.string ?? ""]).run().first ?? task
    Terminal.print(common.wantsJSON ? JSONWriter.text(final) : Describe.outcome(final))
    return final["state"]?.string == TaskState.sent.rawValue ? Exit.ok : Exit.failed
  }

  static func submission(_ arguments: Arguments) throws -> Submission {
    var files = arguments.rest
    guard !files.isEmpty, let kind = kinds[files.removeFirst()] else {
      throw Arguments.Problem(message: "send what? One of feed, chat, message, avatar, log")
    }
    let paths = files.map(Paths.absolute)
    let resources =
      kind == .log && !paths.isEmpty
      ? [ResourceDraft(source: .paths(paths))] : paths.map { ResourceDraft(source: .path($0)) }
    var submission = Submission(kind: kind, resources: resources, account: arguments.value("--account") ?? "default")
    submission.key = arguments.value("--key")
    submission.lane = arguments.value("--to")
    submission.destination = arguments.value("--destination")
    if let text = arguments.value("--text") { submission.payload = ["text": .string(text)] }
    return submission
  }

  private static func submit(_ submission: Submission, _ connection: EngineConnection) throws -> JSONValue {
    do {
      return try connection.call(SubmitTask(submission))["task"] ?? .null
    } catch let error as RPCError {
      guard let pointer = error.data?["pointer"]?.string else { throw error }
      // The engine speaks of places in the request; the person gave files and options.
      let reason =
        error.message.hasPrefix(pointer + ": ") ? String(error.message.dropFirst(pointer.count + 2)) : error.message
      let isSource = error.data?["code"]?.string == "invalidSource"
      throw Stop(status: isSource ? Exit.badInput : Exit.usage, message: sentence(place(pointer, submission), reason))
    }
  }

  private static func sentence(_ place: String, _ reason: String) -> String {
    place.isEmpty || reason.contains(place) ? reason : "\(place): \(reason)"
  }

  private static func place(_ pointer: String, _ submission: Submission) -> String {
    let parts = pointer.split(separator: "/")
    guard parts.count >= 2, parts[0] == "resources", let index = Int(parts[1]) else { return "" }
    let paths =
      submission.resources.count == 1
      ? submission.resources[0].source.paths : submission.resources.flatMap(\.source.paths)
    let number = parts.last.flatMap { Int($0) } ?? index
    return paths.indices.contains(number) ? paths[number] : ""
  }
}
