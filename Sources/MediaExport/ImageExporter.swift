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
    let (plan, clean) = try plan(input, header, job)
    if plan.action == .pass, let clean, try clean.write(to: output) { return try passed(header, output) }
    let encoder = ImageEncoder(input: input, header: header, plan: plan, job: job)
    var result = try encoder.write(to: output)
    // Encoding gained nothing: the source is the better picture and the smaller one.
    if plan.action == .encode, let clean, Int64(clean.bytes.count) <= (try output.size()) {
      if try clean.write(to: output) { return try passed(header, output) }
      result = try encoder.write(to: output)
    }
    result.size = try output.complete()
    return result
  }

  private static func passed(_ header: ImageHeader, _ output: OutputFile) throws(Failure) -> ExportResult {
    ExportResult(
      mime: "image/jpeg", size: try output.complete(), width: header.width, height: header.height, rung: "pass",
      blurhash: Preview.blurhash(imageDescriptor: output.descriptor))
  }

  /// What `export` would do.
  /// - Throws: `Failure`.
  static func plan(_ input: MediaInput, job: ImageJob) throws(Failure) -> ImagePlan {
    try plan(input, try header(of: input), job).0
  }

  /// - Returns: also the cleaned file, where it may go out.
  private static func plan(
    _ input: MediaInput, _ header: ImageHeader, _ job: ImageJob
  ) throws(Failure) -> (ImagePlan, CleanJPEG?) {
    let shown = header.displaySize
    var facts = ImageFacts(
      width: shown.width, height: shown.height, size: try input.size(), isClean: header.mayBeClean)
    let hope = ImagePlan(facts, job: job)
    // A photo that is made smaller anyway need not be read for it.
    guard hope.sourceWillDo else { return (hope, nil) }
    let clean = try CleanJPEG(input)
    facts.isClean = clean != nil
    return (ImagePlan(facts, job: job), clean)
  }

  private static let sequence = "is a moving picture, none of which stands for it"

  /// What the picture is, before a pixel of it is decoded.
  /// - Throws: `Failure`, also where it has too many pixels.
  static func header(of input: MediaInput) throws(Failure) -> ImageHeader {
    guard try input.size() > 0 else { throw MediaFailure.damaged(input.name, "is empty") }
    let found: ImageHeader?
    do throws(VipsError) {
      found = try Image.header(descriptor: input.descriptor)
    } catch {
      if input.isPictureSequence { throw MediaFailure.unsupported(input.name, Self.sequence) }
      throw MediaFailure.of(error, input.name)
    }
    guard let header = found else {
      // A picture that begins as one and can't be opened is broken; the rest is something else.
      if input.type.family == .image { throw MediaFailure.damaged(input.name) }
      throw MediaFailure.unsupported(input.name, "is no picture in a format that can be sent here")
    }
    if header.format == .tiff, RawPhoto.isOne(read: input.bytes) {
      throw MediaFailure.unsupported(input.name, "is a raw photo, of which only the preview could be sent")
    }
    guard header.width > 0, header.height > 0 else { throw MediaFailure.damaged(input.name) }
    guard header.width <= MediaLimits.imagePixels / header.height else {
      throw MediaFailure.tooManyPixels(input.name, PixelSize(header.width, header.height))
    }
    return header
  }
}

extension ImageHeader {
  /// Upright.
  var displaySize: PixelSize {
    isShownTurned ? PixelSize(height, width) : PixelSize(width, height)
  }
}
