import JSON
import JSONRPC
import TaskModel
import TaskProtocol

/// `taskcenter send`: click and go.
enum Send: Command {
  static let name = "send"
  static let help = """
    usage: taskcenter send feed|chat|message|avatar|log FILE|URL… [OPTIONS]

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
      --cover FILE         the cover picture of an audio file
      --poster             send a still of each video beside it
      --thumbnail          send a small picture (320 pixels) of each file beside it
      --keep               take a private copy of each file, which may then change or go
      --role ROLE          what the URLs lead to, where their names do not tell: image, video or audio
      --wait               wait for the end: exit status 0 sent, 1 failed or canceled
      --json               print the task as JSON
      --                   what follows is a file, also if its name begins with "-"

    A URL (http, https) is fetched when the task's turn comes. Prints the task's id and returns at once; the engine goes on
    in the background. Ctrl-C during --wait does not stop it either.
    """

  static func run(_ words: [String]) throws -> Int32 {
    let common = try Common(
      words, options: ["--text", "--to", "--account", "--destination", "--key", "--cover", "--role"],
      flags: ["--keep", "--wait", "--poster", "--thumbnail"])
    let order = try SendOrder(common.arguments)
    let connection = try common.engine.connect()
    let task = try submit(order, connection, common.sameEngine)
    guard common.arguments.has("--wait") else {
      Terminal.print(common.wantsJSON ? JSONWriter.text(task) : task["id"]?.string ?? "")
      return Exit.ok
    }
    let id = task["id"]?.string ?? ""
    // The product is the last word on stdout; how it gets on is for the person, on stderr.
    let follow = Follow(connection, ids: [id], to: 2, asJSON: false, sameEngine: common.sameEngine)
    guard let final = try follow.run().first else { return Exit.failed }
    Terminal.print(common.wantsJSON ? JSONWriter.text(final) : Describe.outcome(final))
    return final["state"]?.string == TaskState.sent.rawValue ? Exit.ok : Exit.failed
  }

  private static func submit(
    _ order: SendOrder, _ connection: EngineConnection, _ sameEngine: String
  ) throws(Stop) -> JSONValue {
    do throws(RPCError) {
      return try connection.call(SubmitTask(order.submission))["task"] ?? .null
    } catch {
      throw ErrorSentence.of(error, submitting: order, sameEngine: sameEngine)
    }
  }
}
