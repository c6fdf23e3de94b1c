import ExportProtocol
import Glibc
import JSON
import Sandbox
import TaskModel

/// One order from the command line, for people and tests. The final report goes to stdout as one line.
enum OneShot {
  /// - Returns: the exit status.
  static func run(_ job: ExportJob, inputs: [String], output: String, plansOnly: Bool) -> Int32 {
    var order = ExportOrder(
      id: 1, job: job, name: name(of: inputs.first ?? ""), output: absolute(output), plansOnly: plansOnly)
    let report: ExportReport
    if job.takesInput {
      let input = open(inputs.first ?? "", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
      if input >= 0 {
        report = confined(order) { OrderRunner.run(order, input: input) { _ in } }
        close(input)
      } else {
        let reason = String(cString: strerror(errno))
        let code: FailureCode = errno == ENOENT ? .sourceMissing : .sourceUnreadable
        report = .failed(
          id: 1, Failure(code, "“\(order.name)” can't be opened: \(reason)", remedy: .needsUser))
      }
    } else {
      order.job = .archive(inputs.map { ArchiveEntry(path: absolute($0), name: name(of: $0)) })
      report = confined(order) { OrderRunner.run(order, input: nil) { _ in } }
    }
    let line = JSONWriter.bytes(report.json) + [UInt8(ascii: "\n")]
    _ = write(1, line, line.count)
    if case .failed = report { return 1 }
    return 0
  }

  /// In the sandbox of a worker, so that what is tried here is what the engine gets.
  private static func confined(_ order: ExportOrder, _ body: () -> ExportReport) -> ExportReport {
    let folder = order.output.isEmpty ? nil : Folders.parent(of: order.output)
    if let folder, access(folder, W_OK) != 0 { return .failed(id: order.id, .writing(errno)) }
    do throws(SandboxError) {
      _ = try Confinement(folder: folder, readsAnything: !order.job.takesInput).enter()
    } catch {
      return .failed(id: order.id, Failure(.internalError, "The sandbox can't be entered: \(error)", remedy: .retry))
    }
    return body()
  }

  private static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

  private static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return String(cString: folder) + "/" + path
  }
}
