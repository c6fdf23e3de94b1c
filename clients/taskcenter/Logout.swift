import JSON
import TaskProtocol

/// `taskcenter logout`
enum Logout: Command {
  static let name = "logout"
  static let help = """
    usage: taskcenter logout ACCOUNT [--json]

    Cancels everything that the account still wants to send, and forgets all its tasks with their work files.
    """

  static func run(_ words: [String]) throws -> Int32 {
    let common = try Common(words)
    guard let account = common.arguments.rest.first, common.arguments.rest.count == 1, !account.isEmpty else {
      throw Arguments.Problem(message: "which account? One name, as --account of send takes it")
    }
    let answer = try common.engine.connect().call(LogoutAccount(account: account))
    let (canceled, removed) = (answer["canceled"]?.int ?? 0, answer["removed"]?.int ?? 0)
    Terminal.print(
      common.wantsJSON
        ? JSONWriter.text(answer) : "\(PlainText.of(account)): \(canceled) canceled, \(removed) forgotten")
    return Exit.ok
  }
}
