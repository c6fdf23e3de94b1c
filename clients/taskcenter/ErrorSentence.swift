import JSON
import JSONRPC

/// The engine's refusals as an exit status and a sentence that says what to do; pure.
enum ErrorSentence {
  /// - Parameter sameEngine: options that lead another command to the same engine (`Common.sameEngine`).
  static func of(_ error: RPCError, sameEngine: String = "") -> Stop {
    let name = error.data?["code"]?.string ?? ""
    let id = error.data?["id"]?.string
    func command(_ verb: String) -> String { "taskcenter \(verb) \(id ?? "ID")\(sameEngine)" }
    let (status, hint): (Int32, String?) =
      switch name {
      case "invalidParams": (Exit.usage, nil)
      case "invalidSource": (Exit.badInput, advice(error.data?["reason"]?.string, error.message))
      case "notFound": (Exit.usage, "see: taskcenter list\(sameEngine)")
      case "keyConflict": (Exit.usage, "give another --key, or see: \(command("show"))")
      case "laneBusy": (Exit.tryAgain, "wait for it: \(command("watch")), or take it back: \(command("cancel"))")
      case "invalidState": (Exit.failed, nil)
      case "storageFull": (Exit.tryAgain, "make some room, then try again")
      case "busy": (Exit.tryAgain, "try again")
      case "storeUnavailable", "engineGone", "engineSilent": (Exit.unavailable, "try again")
      default: (Exit.internalError, nil)
      }
    let message = PlainText.of(error.message)
    return Stop(status: status, message: hint.map { "\(message); \($0)" } ?? message)
  }

  /// The same for what was submitted: the engine speaks of places in the request, the person gave files and options.
  static func of(_ error: RPCError, submitting order: SendOrder, sameEngine: String = "") -> Stop {
    guard let pointer = error.data?["pointer"]?.string else { return of(error, sameEngine: sameEngine) }
    var error = error
    if error.message.hasPrefix(pointer + ": ") { error.message.removeFirst(pointer.utf8.count + 2) }
    for (path, name) in zip(order.paths, order.names) where path != name && path.count > 1 {
      error.message = error.message.replacing(path, with: name)
    }
    let place = order.place(of: pointer)
    // A worker begins with the file's name, in quotes.
    if !place.isEmpty, !error.message.hasPrefix(place), !error.message.hasPrefix("“") {
      error.message = "\(place): \(error.message)"
    }
    return of(error, sameEngine: sameEngine)
  }

  /// What helps against a source that can't be sent, by failure code.
  private static func advice(_ reason: String?, _ message: String) -> String? {
    switch reason {
    case "sourceMissing": "look at its name"
    case "sourceUnreadable": "look at its permissions"
    // A pipe or a device goes nowhere.
    case "sourceNotRegular" where !message.hasSuffix("is a folder"): nil
    case "sourceNotRegular": "folders go into a zip: taskcenter send log"
    case "unsupported": "files of any kind go into a zip: taskcenter send log"
    default: nil
    }
  }
}
