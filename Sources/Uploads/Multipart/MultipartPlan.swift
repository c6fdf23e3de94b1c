import TaskModel

/// How a file is cut into parts. Pure.
struct MultipartPlan: Sendable, Hashable {
  /// Bytes of the file.
  let size: Int64
  /// Bytes of every part but the last.
  let partSize: Int64

  /// S3's own limits ("Amazon S3 multipart upload limits"): all parts but the last have 5 MiB or more, and 10,000 are
  /// the most.
  static let minimumPartSize: Int64 = 5 << 20
  static let maximumParts: Int64 = 10_000
  static let pageSize: Int64 = 1 << 20

  /// The part size that is wanted, or the least that does with 10,000 parts, in whole MiB.
  static func partSize(wanted: Int64, size: Int64) -> Int64 {
    let needed = (size + maximumParts - 1) / maximumParts
    return max(wanted, minimumPartSize, (needed + pageSize - 1) / pageSize * pageSize)
  }

  /// - Throws: `Failure` where a service has cut the file into more parts than there can be.
  static func checked(size: Int64, partSize: Int64) throws(Failure) -> MultipartPlan {
    let plan = MultipartPlan(size: size, partSize: partSize)
    guard plan.count <= maximumParts else {
      throw Failure(
        .badAnswer, "parts of \(partSize) bytes make more than \(maximumParts) of this file", remedy: .giveUp)
    }
    return plan
  }

  /// An empty file is one empty part.
  var count: Int { max(1, Int((size + partSize - 1) / partSize)) }

  /// - Parameter number: from 1 on.
  func range(of number: Int) -> Range<Int64> {
    let start = Int64(number - 1) * partSize
    return start..<min(size, start + partSize)
  }
}
