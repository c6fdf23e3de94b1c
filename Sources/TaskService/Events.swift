import JSON
import JSONRPC
import TaskEngine
import TaskStorage

/// The notifications that go out.
enum Events {
  static func changed(_ change: Change, _ subscription: Int64) -> Message {
    var params = JSONObject([("subscription", .int(subscription)), ("cursor", .int(change.cursor))])
    guard let task = change.json else {
      params["id"] = .string(change.taskID)
      return .notification(method: "task/deleted", params: .object(params))
    }
    params["task"] = task
    return .notification(method: "task/changed", params: .object(params))
  }

  static func progressed(_ report: ProgressReport, _ subscription: Int64) -> Message {
    var params = JSONObject([
      ("subscription", .int(subscription)), ("id", .string(report.task.id)), ("progress", .double(report.progress)),
    ])
    params["phase"] = report.task.phase.map(JSONValue.string)
    params["bytesDone"] = .int(report.bytesDone)
    params["bytesTotal"] = .int(report.bytesTotal)
    params["resources"] = .array(
      report.resources.map {
        ["index": .int($0.index), "state": .string($0.state.rawValue), "progress": .double($0.progress)]
      })
    return .notification(method: "task/progress", params: .object(params))
  }
}
