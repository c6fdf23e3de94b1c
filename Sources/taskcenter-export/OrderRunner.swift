import ExportProtocol
import LogArchive
import MediaExport
import TaskModel

/// One order to its final report.
enum OrderRunner {
  /// - Parameters:
  ///   - input: open for reading where the job takes one; stays the caller's.
  ///   - progress: told the done fraction.
  static func run(_ order: ExportOrder, input: Int32?, progress: @escaping (Double) -> Void) -> ExportReport {
    do throws(Failure) {
      if order.plansOnly { return .planned(id: order.id, try plan(order, input: input)) }
      if case .archive(let entries) = order.job {
        return .done(id: order.id, try LogArchive.write(entries, to: order.output, progress: progress))
      }
      guard let input else { throw Failure(.internalError, "The order has no input", remedy: .retry) }
      let media = MediaInput(descriptor: input, name: order.name)
      switch order.job {
      case .image(let job):
        return .done(id: order.id, try ImageExporter.export(media, job: job, to: order.output))
      case .video(let job):
        var result = try VideoExporter.export(media, job: job, to: order.output, progress: progress)
        result.blurhash = Preview.blurhash(filmPath: order.output)
        return .done(id: order.id, result)
      case .poster(let job):
        return .done(id: order.id, try PosterExporter.poster(media, job: job, to: order.output))
      case .thumbnail(let job):
        return .done(id: order.id, try PosterExporter.thumbnail(media, job: job, to: order.output))
      case .audio:
        return .done(id: order.id, try AudioExporter.export(media, to: order.output, progress: progress))
      case .probe:
        return .probed(id: order.id, try Prober.probe(media))
      case .archive:
        throw Failure(.internalError, "The order was not understood", remedy: .giveUp)
      }
    } catch {
      return .failed(id: order.id, error)
    }
  }

  private static func plan(_ order: ExportOrder, input: Int32?) throws(Failure) -> PlannedExport {
    if case .archive(let entries) = order.job { return try LogArchive.plan(entries) }
    guard let input else { throw Failure(.internalError, "The order has no input", remedy: .retry) }
    return try ExportPlanner.plan(MediaInput(descriptor: input, name: order.name), job: order.job)
  }
}
