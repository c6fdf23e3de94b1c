import HTTP
import JSON

/// Which upload a credential is for, as it is saved.
struct MultipartPlace: Sendable {
  /// Presigned: the upload that the service has begun.
  let presignedId: String?
  /// Presigned: as the URLs were signed for.
  private let presignedPartSize: Int64?
  /// Signed here: where the object is.
  private let object: S3Object?
  private let abortUrl: String?
  /// For messages.
  let host: String

  init(_ credential: MultipartCredential) {
    switch credential {
    case .presigned(let credential):
      presignedId = credential.uploadId
      presignedPartSize = credential.partSize
      object = nil
      abortUrl = credential.abortUrl
      host = HTTPRequest("GET", url: credential.completeUrl).host
    case .signedHere(let credential):
      presignedId = nil
      presignedPartSize = nil
      object = credential.object
      abortUrl = nil
      host = HTTPRequest("GET", url: credential.object.url).host
    }
  }

  var key: String { object?.key ?? "" }

  /// Without part size and upload id. No key goes into the store, and of the signed URLs only the one that takes back.
  var fields: JSONObject {
    if let object { return object.fields }
    var fields = JSONObject()
    fields["abortUrl"] = abortUrl.map(JSONValue.string)
    return fields
  }

  /// Whether what was saved is an upload that this credential is for.
  func isPlace(of saved: JSONObject) -> Bool {
    if let presignedId {
      return saved["uploadId"]?.string == presignedId
    }
    return S3Object(saved) == object
  }

  func partSize(_ tools: UploadTools, _ size: Int64) -> Int64 {
    presignedPartSize ?? MultipartPlan.partSize(wanted: tools.settings.partSize, size: size)
  }
}
