import ExportProtocol
import TaskModel

/// Which orders a worker takes. The sandbox would stop the others too, where the kernel has one; this says it in words.
struct AllowedOrders {
  /// Absolute; outputs lie directly in it.
  let folder: String
  /// An archive's worker reads files by path, and so never decodes a stranger's film.
  let archives: Bool

  func refusal(of order: ExportOrder) -> Failure? {
    guard order.job.takesInput != archives else {
      return Failure(.internalError, "This worker does not serve such orders", remedy: .giveUp)
    }
    if order.plansOnly { return nil }
    if case .probe = order.job { return nil }
    let name = order.output.dropFirst(folder.count + 1)
    guard order.output.hasPrefix(folder + "/"), !name.isEmpty, !name.contains("/"), name != ".." else {
      return Failure(.internalError, "The order's output is not in the folder of exports", remedy: .giveUp)
    }
    return nil
  }
}

extension ExportOrder {
  /// Bytes that the output may have while it is made: some more than the limit, as the exporter itself should be the one
  /// who says that it is too large.
  var largestOutput: UInt64? {
    guard case .video(let job) = job, case .ladder(_, let hardLimit) = job.goal, hardLimit > 0 else { return nil }
    return UInt64(hardLimit) + UInt64(hardLimit) / 10 + 65536
  }

  /// Seconds of processor time that it may take, however long the engine would wait; nil where the length of a film decides.
  /// The largest picture that is taken becomes a HEIC in half of it.
  var processorTime: UInt64? {
    if plansOnly { return 600 }
    switch job {
    case .image, .poster, .thumbnail, .probe: return 600
    case .video, .audio, .archive: return nil
    }
  }
}

enum Folders {
  /// The folder that names `path`, which is absolute.
  static func parent(of path: String) -> String {
    let end = path.lastIndex(of: "/") ?? path.startIndex
    return end == path.startIndex ? "/" : String(path[..<end])
  }
}
