import Answers
import JSON
import TaskConfig
import TaskModel

/// Gives credentials out of the config: nobody is asked.
struct StaticIssuer: Sendable {
  let upload: StaticUpload

  func answer(_ request: CredentialRequest) -> CredentialAnswer {
    var uploads: [Int: UploadCredential] = [:]
    for resource in request.json["resources"]?.array ?? [] {
      guard let index = resource["index"]?.int else { continue }
      let name = resource["name"]?.string ?? ""
      switch upload {
      case .bucket(let bucket):
        uploads[Int(index)] = .multipart(.signedHere(Self.credential(bucket, request, index, name)))
      }
    }
    return CredentialAnswer(expiresAt: nil, uploads: uploads)
  }

  /// The key is the same for every attempt: an upload that is repeated replaces its own object.
  private static func credential(
    _ bucket: StaticUpload.Bucket, _ request: CredentialRequest, _ index: Int64, _ name: String
  ) -> S3Credential {
    let places = request.places.mapValues(SafeName.segment)
    let key = fill(bucket.keyPrefix, places) + "\(places["taskId"] ?? "")/\(index)-\(SafeName.segment(name))"
    let object = S3Object(
      endpoint: bucket.endpoint, region: bucket.region, bucket: bucket.name, key: key, pathStyle: bucket.pathStyle)
    let encoded = places.mapValues { PercentEncoding.encode($0) }
      .merging(["key": PercentEncoding.encode(key, keepingSlashes: true)]) { $1 }
    return S3Credential(
      object: object, accessKeyId: bucket.accessKeyId, secretAccessKey: bucket.secretAccessKey,
      sessionToken: bucket.sessionToken, publicUrl: bucket.publicUrl.map { fill($0, encoded) } ?? object.url)
  }

  private static func fill(_ template: String, _ values: [String: String]) -> String {
    URLTemplate.substitute(template, values)
  }
}
