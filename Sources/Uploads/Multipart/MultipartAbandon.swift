import Answers
import HTTP
import JSON
import TaskModel

/// Takes a multipart upload back, from what was saved of it. Parts that nobody joins cost storage without being listed.
struct MultipartAbandon: Sendable {
  let fields: JSONObject
  let tools: UploadTools
  let credential: @Sendable () async throws -> UploadCredential?

  /// - Throws: `Failure` where it has to be tried again, or can't be done.
  func run() async throws {
    if let object = S3Object(fields) { try await abortSigned(object) } else { try await abortPresigned() }
  }

  private func abortSigned(_ object: S3Object) async throws {
    guard case .multipart(.signedHere(var fresh))? = try await credential() else {
      throw Failure(.forbidden, "nobody gives keys to take it back with", remedy: .giveUp)
    }
    fresh.object = object
    let door = S3Door(credential: fresh, tools: tools)
    if let id = fields["uploadId"]?.string { return try await abort(id, at: door) }
    // It was about to begin: whatever stands under its key is of nobody else.
    guard let response = try await send(.listUploads, at: door) else { return }
    for id in S3Listing.uploads(response.body, key: object.key) { try await abort(id, at: door) }
  }

  private func abortPresigned() async throws {
    guard let id = fields["uploadId"]?.string else { return }
    let saved = PresignedMultipart(
      uploadId: id, partSize: 1, parts: [:], completeUrl: "", abortUrl: fields["abortUrl"]?.string, publicUrl: "")
    do {
      try await abort(id, at: PresignedDoor(credential: saved, tools: tools))
    } catch let failure as Failure where failure.code == .forbidden {
      // Its URL has expired, as a rule.
      guard case .multipart(.presigned(let fresh))? = try await credential() else { throw failure }
      // One that the service has just begun because it knows the old one no more is not wanted either.
      try await abort(fresh.uploadId, at: PresignedDoor(credential: fresh, tools: tools))
    }
  }

  private func abort(_ id: String, at door: some MultipartDoor) async throws {
    _ = try await send(.abort(uploadId: id), at: door)
  }

  /// - Returns: nil for what does not exist, or can't be asked for.
  private func send(_ call: MultipartCall, at door: some MultipartDoor) async throws -> HTTPResponse? {
    let response: HTTPResponse?
    do {
      response = try await door.send(call)
    } catch let error as HTTPError {
      throw StatusMap.failure(error)
    }
    guard let response, response.status != 404 else { return nil }
    guard var failure = StorageAnswer.failure(response, host: "storage") else { return response }
    // Nobody renews a credential here but `abortPresigned`, once.
    if failure.remedy == .refreshCredential { failure.remedy = .giveUp }
    throw failure
  }
}
