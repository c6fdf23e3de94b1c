import HTTP
import JSON

/// Where a resource is created by tus, and what every request to that server needs.
struct TusCredential: Sendable, Hashable {
  var endpoint: String
  var headers: [HTTPHeader] = []
  /// In the order of the credential; `filename` and `filetype` are added where it has none.
  var metadata: [HTTPHeader] = []
  /// Where the object is read; nil: the upload's own URL.
  var publicUrl: String?

  static func parse(_ fields: inout JSONFields) throws(JSONShapeError) -> TusCredential {
    var credential = TusCredential(endpoint: try fields.required("endpoint").webURL())
    for (name, value) in try fields.optional("headers")?.members() ?? [] {
      credential.headers.append(HTTPHeader(name, try value.string()))
    }
    for (name, value) in try fields.optional("metadata")?.members() ?? [] {
      guard TusMetadata.isKey(name) else { throw value.error("\"\(name)\" is no key for Upload-Metadata") }
      credential.metadata.append(HTTPHeader(name, try value.string()))
    }
    credential.publicUrl = try fields.optional("publicUrl")?.nonEmptyString()
    return credential
  }
}
