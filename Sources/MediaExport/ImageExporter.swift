public import ExportProtocol
public import TaskModel
import Vips

/// Makes an upright picture in sRGB without metadata, of the first page, never larger than the source. A small clean JPEG
/// is passed on, cleaned without loss.
public enum ImageExporter {
  /// - Throws: `Failure`; nothing is left of the output then.
  public static func export(_ input: MediaInput, job: ImageJob, to path: String) throws(Failure) -> ExportResult {
    let output = try OutputFile.create(path)
    let header = try header(of: input)
    let (facts, clean) = try facts(of: input, header)
    let plan = ImagePlan(facts, job: job)
    if plan.action == .pass, let clean, try clean.write(to: output) {
      return try passed(header, output)
    }
    var result = try ImageEncoder(input: input, header: header, plan: plan, job: job).write(to: output)
    // Encoding gained nothing: the source is the better picture and the smaller one.
    if plan.sourceWillDo, let clean, Int64(clean.bytes.count) <= (try output.size()) {
      if try clean.write(to: output) { return try passed(header, output) }
      result = try ImageEncoder(input: input, header: header, plan: plan, job: job).write(to: output)
    }
    result.size = try output.complete()
    return result
  }

  static let passingRung = "pass"

  private static func passed(_ header: ImageHeader, _ output: OutputFile) throws(Failure) -> ExportResult {
    ExportResult(
      mime: "image/jpeg", size: try output.complete(), width: header.width, height: header.height, rung: passingRung,
      blurhash: Preview.blurhash(imageDescriptor: output.descriptor))
  }

  /// - Returns: also the cleaned file, where it is a clean JPEG.
  private static func facts(of input: MediaInput, _ header: ImageHeader) throws(Failure) -> (ImageFacts, CleanJPEG?) {
    let clean = try CleanJPEG(input, header)
    let shown = header.shownSize
    return (
      ImageFacts(width: shown.width, height: shown.height, size: try input.size(), isClean: clean != nil), clean
    )
  }

  /// What `export` would do.
  /// - Throws: `Failure`.
  static func plan(_ input: MediaInput, job: ImageJob) throws(Failure) -> ImagePlan {
    ImagePlan(try facts(of: input, try header(of: input)).0, job: job)
  }

  /// What the picture is, before a pixel of it is decoded.
  /// - Throws: `Failure`, also where it has too many pixels.
  static func header(of input: MediaInput) throws(Failure) -> ImageHeader {
    guard try input.size() > 0 else { throw MediaFailure.damaged(input.name, "is empty") }
    let found: ImageHeader?
    do throws(VipsError) {
      found = try Image.header(descriptor: input.descriptor)
    } catch {
      throw MediaFailure.of(error, input.name)
    }
    guard let header = found else {
      throw MediaFailure.unsupported(input.name, "is no picture in a format that can be sent here")
    }
    guard header.width > 0, header.height > 0 else { throw MediaFailure.damaged(input.name) }
    guard header.width <= MediaLimits.imagePixels / header.height else {
      throw MediaFailure.tooManyPixels(input.name, PixelSize(header.width, header.height))
    }
    return header
  }
}
