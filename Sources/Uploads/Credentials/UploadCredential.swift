import HTTP
import JSON

/// The right to upload one resource, as the business service gave it (docs/server-contract.md).
enum UploadCredential: Sendable, Hashable {
  case put(PutCredential)
  case multipart(MultipartCredential)
  case form(FormCredential)
  case tus(TusCredential)
  /// A protocol that this version does not speak, by its name.
  case unknown(String)
}

struct PutCredential: Sendable, Hashable {
  var url: String
  var headers: [HTTPHeader]
  var publicUrl: String
}

/// One answer of the service: credentials by resource index.
struct CredentialAnswer: Sendable, Hashable {
  /// Milliseconds since 1970.
  var expiresAt: Int64?
  var uploads: [Int: UploadCredential]

  /// The end of the year 9999. A service may mean "never" by any number; sums with it have to fit.
  private static let latestExpiry: Int64 = 253_402_300_799_000

  /// Unknown members are let pass: a service may say more than this version understands. A member that is null is none, as
  /// many writers of JSON have it.
  /// - Throws: `JSONShapeError`.
  static func parse(_ value: JSONValue) throws(JSONShapeError) -> CredentialAnswer {
    var fields = try JSONReader(value.withoutNulls).object()
    let expiresAt = try fields.optional("expiresAt")?.int()
    var answer = CredentialAnswer(expiresAt: expiresAt.map { min($0, latestExpiry) }, uploads: [:])
    for reader in try fields.required("uploads").array() {
      var upload = try reader.object()
      let indexReader = try upload.required("index")
      let index = Int(try indexReader.int(in: 0...9_999))
      guard answer.uploads[index] == nil else { throw indexReader.error("resource \(index) is named twice") }
      let name = try upload.required("protocol").nonEmptyString()
      answer.uploads[index] = try UploadCredential.parse(name, &upload)
    }
    return answer
  }
}

extension UploadCredential {
  static func parse(_ name: String, _ fields: inout JSONFields) throws(JSONShapeError) -> UploadCredential {
    switch name {
    case "put": .put(try PutCredential.parse(&fields))
    case "multipart": .multipart(try MultipartCredential.parse(&fields))
    case "tus": .tus(try TusCredential.parse(&fields))
    case "form": .form(try FormCredential.parse(&fields))
    default: .unknown(name)
    }
  }
}

extension PutCredential {
  fileprivate static func parse(_ fields: inout JSONFields) throws(JSONShapeError) -> PutCredential {
    let url = try fields.required("url").webURL()
    var headers: [HTTPHeader] = []
    if let reader = fields.optional("headers") {
      for (name, value) in try reader.members() { headers.append(HTTPHeader(name, try value.string())) }
    }
    let publicUrl = try fields.optional("publicUrl")?.nonEmptyString()
    return PutCredential(
      url: url, headers: headers, publicUrl: publicUrl ?? String(url.prefix { $0 != "?" && $0 != "#" }))
  }
}

extension JSONValue {
  fileprivate var withoutNulls: JSONValue {
    switch self {
    case .object(let object):
      .object(JSONObject(object.members.filter { $0.value != .null }.map { ($0.name, $0.value.withoutNulls) }))
    case .array(let elements): .array(elements.map(\.withoutNulls))
    case .null, .bool, .number, .string: self
    }
  }
}
