import Answers
import HTTP
import TaskModel

/// The one request of a protocol that sends the whole file at once, and what its answer proves.
enum WholeFileRequest {
  /// - Parameters:
  ///   - md5: of the file, lower-case hex.
  ///   - isDone: answers that mean success besides those of `StorageAnswer`.
  /// - Returns: the object's tag, where the answer names one.
  /// - Throws: `Failure`; a tag that speaks of other bytes is one, unless the server says that it is no MD5.
  static func send(
    _ request: HTTPRequest, md5: String, _ tools: UploadTools, isDone: (HTTPResponse) -> Bool = { _ in false },
    progress: @escaping UploadProgress
  ) async throws -> String? {
    var request = request
    request.setPatience(tools.settings)
    let response = try await tools.http.ask(request, progress: progress)
    if !isDone(response), let failure = StorageAnswer.failure(response, host: request.host) { throw failure }
    if request.method == "PUT", let failure = StorageAnswer.page(response, host: request.host) { throw failure }
    let tag = response.header("ETag") ?? S3XML.text("ETag", in: S3XML.document(response.body))
    let etag = tag.map(ETag.bare)
    if ETag.matches(etag, md5: md5) == false, !ETag.isHidden(response) {
      throw StorageAnswer.otherBytes(request.host)
    }
    return etag
  }
}
