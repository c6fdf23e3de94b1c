public import JSON

/// One JSON-RPC 2.0 message (https://www.jsonrpc.org/specification).
public enum Message: Sendable, Hashable {
  case request(id: JSONValue, method: String, params: JSONValue?)
  case notification(method: String, params: JSONValue?)
  case response(id: JSONValue, result: Result<JSONValue, RPCError>)
  /// Something that is no message; `id` is what could be read of one, else null.
  case invalid(id: JSONValue, RPCError)

  /// Classifies one value that is not a batch.
  public init(_ value: JSONValue) {
    guard let object = value.object else {
      self = .invalid(id: .null, .invalidRequest("a message is an object, found \(value.typeName)"))
      return
    }
    let id = object["id"]
    let readableID = id.flatMap { Message.isLegal($0) ? $0 : nil } ?? .null
    func invalid(_ reason: String) -> Message { .invalid(id: readableID, .invalidRequest(reason)) }
    guard object["jsonrpc"]?.string == "2.0" else {
      self = invalid("the member \"jsonrpc\" must be \"2.0\"")
      return
    }
    if let id, !Message.isLegal(id) {
      self = invalid("an id is a string, a number or null, found \(id.typeName)")
      return
    }
    if let method = object["method"] {
      guard let method = method.string else {
        self = invalid("the member \"method\" must be a string, found \(method.typeName)")
        return
      }
      let params = object["params"]
      if let params, params.object == nil, params.array == nil {
        self = invalid("the member \"params\" must be an object or an array, found \(params.typeName)")
        return
      }
      self =
        id.map { .request(id: $0, method: method, params: params) } ?? .notification(method: method, params: params)
    } else if let id, let result = object["result"] {
      self = .response(id: id, result: .success(result))
    } else if let id, let error = object["error"] {
      self = .response(id: id, result: .failure(RPCError(json: error)))
    } else {
      self = invalid("the member \"method\" is missing")
    }
  }

  private static func isLegal(_ id: JSONValue) -> Bool {
    switch id {
    case .string, .number, .null: true
    case .bool, .array, .object: false
    }
  }

  public var json: JSONValue {
    var object = JSONObject([("jsonrpc", "2.0")])
    switch self {
    case .request(let id, let method, let params):
      object["id"] = id
      object["method"] = .string(method)
      object["params"] = params
    case .notification(let method, let params):
      object["method"] = .string(method)
      object["params"] = params
    case .response(let id, .success(let result)):
      object["id"] = id
      object["result"] = result
    case .response(let id, .failure(let error)), .invalid(let id, let error):
      object["id"] = id
      object["error"] = error.json
    }
    return .object(object)
  }
}

/// The error of a response.
public struct RPCError: Error, Sendable, Hashable {
  public var code: Int
  public var message: String
  public var data: JSONValue?

  public init(code: Int, message: String, data: JSONValue? = nil) {
    self.code = code
    self.message = message
    self.data = data
  }

  init(json: JSONValue) {
    self.init(
      code: Int(json["code"]?.int ?? 0), message: json["message"]?.string ?? "unknown error", data: json["data"])
  }

  public var json: JSONValue {
    var object = JSONObject([("code", .int(code)), ("message", .string(message))])
    object["data"] = data
    return .object(object)
  }

  public static func parseError(_ reason: String) -> RPCError {
    RPCError(code: -32700, message: "not JSON: \(reason)", data: ["code": "parseError"])
  }
  public static func invalidRequest(_ reason: String) -> RPCError {
    RPCError(code: -32600, message: reason, data: ["code": "invalidRequest"])
  }
  public static func methodNotFound(_ method: String) -> RPCError {
    RPCError(code: -32601, message: "unknown method \"\(method)\"", data: ["code": "methodNotFound"])
  }
  public static func invalidParams(_ error: JSONShapeError) -> RPCError {
    RPCError(
      code: -32602, message: error.description,
      data: ["code": "invalidParams", "pointer": .string(error.pointer)])
  }
  public static func internalError(_ reason: String) -> RPCError {
    RPCError(code: -32603, message: reason, data: ["code": "internalError"])
  }
}
