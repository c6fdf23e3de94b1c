import JSON
import JSONRPC
import MediaTypes
import SourceFiles
import TaskModel
import TaskProtocol

/// `taskcenter plan`: what a send would make of files.
enum Plan: Command {
  static let name = "plan"
  static let help = """
    usage: taskcenter plan [feed|chat|message|avatar|log] FILE… [--cover FILE] [--json]

    Says what a send would make of the files, and why: pass (the bytes stay, without metadata), remux (picture and sound are
    copied into a new container), encode, or zip. Nothing is sent and nothing stored. Sizes are guesses.

    Without a kind: chat for a video, feed for pictures and sound, log for folders and anything else.
    """

  private static let noURL = "what a send makes of a URL is known when it is fetched"

  static func run(_ words: [String]) throws -> Int32 {
    let common = try Common(words, options: ["--cover"])
    var arguments = common.arguments
    if let first = arguments.rest.first, !SendOrder.kinds.contains(where: { $0.word == first }) {
      arguments = arguments.beginning(with: try guess(first))
    }
    guard !arguments.rest.contains(where: SourceURL.isURL) else { throw Arguments.Problem(message: Plan.noURL) }
    let order = try SendOrder(arguments, verb: name)
    let request = PlanExport(kind: order.submission.kind, resources: order.submission.resources)
    let connection = try common.engine.connect()
    let answer: JSONValue
    do throws(RPCError) {
      answer = try connection.call(request)
    } catch {
      throw ErrorSentence.of(error, submitting: order, sameEngine: common.sameEngine)
    }
    guard !common.wantsJSON else {
      Terminal.print(JSONWriter.text(answer))
      return Exit.ok
    }
    let width = Terminal.isLively(1) ? Terminal.size(1).columns : nil
    Terminal.print(table(answer["resources"]?.array ?? [], names: names(order), width: width))
    return Exit.ok
  }

  static func table(_ plans: [JSONValue], names: [String], width: Int? = nil) -> String {
    let rows = plans.map { plan in
      let index = plan["index"]?.int ?? 0
      let pixels = plan["width"]?.int.flatMap { width in plan["height"]?.int.map { "\(width)×\($0)" } }
      return [
        PlainText.of(names.indices.contains(Int(index)) ? names[Int(index)] : ""), Describe.text(plan, "action"),
        pixels ?? "–", plan["estimatedBytes"]?.int.map { "~ \(Describe.size($0))" } ?? "–",
        Describe.text(plan, "reason"),
      ]
    }
    return Describe.table(["FILE", "ACTION", "PIXELS", "SIZE", "WHY"], rows, width: width)
  }

  /// By the row; everything of a log is one.
  private static func names(_ order: SendOrder) -> [String] {
    guard order.submission.kind == .log, order.names.count > 1 else { return order.names }
    return ["\(order.names[0]) and \(order.names.count - 1) more"]
  }

  /// The word of the kind that a file is most likely meant for.
  /// - Throws: `Arguments.Problem` where there is no such file.
  private static func guess(_ file: String) throws -> String {
    guard !SourceURL.isURL(file) else {
      throw Arguments.Problem(message: noURL)
    }
    do throws(Failure) {
      return word(for: try SourceFile.open(try absolute(file)).type())
    } catch  where error.code == .sourceNotRegular {
      return "log"
    } catch  where error.code == .sourceMissing {
      let kinds = SendOrder.kinds.map(\.word)
      let hint = Nearest.to(file, among: kinds).map { "; did you mean \($0)?" } ?? ""
      throw Arguments.Problem(
        message: "\"\(PlainText.of(file))\" is neither a file nor one of \(kinds.joined(separator: ", "))\(hint)")
    } catch {
      throw Stop(status: Exit.badInput, message: PlainText.of(error.message))
    }
  }

  private static func absolute(_ file: String) throws(Failure) -> String {
    do throws(Stop) { return try Paths.absolute(file) } catch {
      throw Failure(.sourceUnreadable, error.message, remedy: .needsUser)
    }
  }

  static func word(for type: MediaType) -> String {
    switch type.family {
    case .video: "chat"
    case .image, .audio: "feed"
    case .other: "log"
    }
  }
}
