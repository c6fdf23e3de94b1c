import JSON
public import JSONRPC
public import TaskModel

// The errors of docs/protocol.md: a number for JSON-RPC, its name in `data.code` for people and programs.

extension RPCError {
  public static func notFound(_ id: SendTask.ID) -> RPCError {
    error(-32001, "notFound", "there is no task \"\(id)\"", ["id": .string(id)])
  }
  public static func keyConflict(_ id: SendTask.ID) -> RPCError {
    error(-32002, "keyConflict", "this key belongs to another submission (task \(id))", ["id": .string(id)])
  }
  public static func laneBusy(_ id: SendTask.ID) -> RPCError {
    error(-32003, "laneBusy", "task \(id) is still on its way in this lane", ["id": .string(id)])
  }
  public static func invalidState(_ state: TaskState, _ verb: String) -> RPCError {
    error(
      -32004, "invalidState", "a task that is \(state.rawValue) takes no \(verb)", ["state": .string(state.rawValue)])
  }
  public static func storageFull() -> RPCError {
    error(-32005, "storageFull", "the disk is full; nothing was stored", JSONObject())
  }
  public static func invalidSource(_ failure: Failure, pointer: String) -> RPCError {
    error(
      -32006, "invalidSource", "\(pointer): \(failure.message)",
      ["reason": .string(failure.code.rawValue), "pointer": .string(pointer)])
  }
  public static func storeUnavailable(_ reason: String) -> RPCError {
    error(-32007, "storeUnavailable", reason, JSONObject())
  }
  public static func busy(_ limit: Int) -> RPCError {
    error(-32008, "busy", "more than \(limit) requests are waiting for an answer", JSONObject())
  }
  public static func requestCancelled() -> RPCError {
    error(-32800, "requestCancelled", "the request was cancelled", JSONObject())
  }

  private static func error(_ code: Int, _ name: String, _ message: String, _ details: JSONObject) -> RPCError {
    var data = JSONObject([("code", .string(name))])
    for member in details.members { data[member.name] = member.value }
    return RPCError(code: code, message: message, data: .object(data))
  }
}
