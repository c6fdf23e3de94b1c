public import ExportProtocol
public import TaskModel
import Vips

/// Makes an upright JPEG in sRGB without metadata, of the first page, never larger than the source.
public enum ImageExporter {
  /// - Throws: `Failure`; nothing is left of the output then.
  public static func export(_ input: MediaInput, job: ImageJob, to path: String) throws(Failure) -> ExportResult {
    let output = try OutputFile.create(path)
    let header = try header(of: input)
    let size: PixelSize
    do throws(VipsError) {
      size = try write(input, header, job, descriptor: output.descriptor)
    } catch {
      throw MediaFailure.of(error, input.name)
    }
    return ExportResult(
      mime: "image/jpeg", size: try output.complete(), width: size.width, height: size.height, rung: rung(job))
  }

  private static func write(
    _ input: MediaInput, _ header: ImageHeader, _ job: ImageJob, descriptor: Int32
  ) throws(VipsError) -> PixelSize {
    let side = boxSide(header, job)
    var image = try Image.thumbnail(
      descriptor: input.descriptor, width: side, height: side, crop: job.cropSquare
    ).converted()
    // JPEG has no alpha, and libvips by itself would show black below it.
    if image.hasAlpha { image = try image.flattenedOnWhite() }
    try image.writeJPEG(descriptor: descriptor, quality: job.quality)
    return PixelSize(image.width, image.height)
  }

  static func rung(_ job: ImageJob) -> String { "\(job.longEdge)" }

  /// Upright pixels of the result.
  static func outputSize(_ header: ImageHeader, _ job: ImageJob) -> PixelSize {
    let side = boxSide(header, job)
    if job.cropSquare { return PixelSize(side, side) }
    let shown = header.displaySize
    let scale = min(1, Double(side) / Double(max(shown.width, shown.height)))
    func scaled(_ length: Int) -> Int { max(1, Int((Double(length) * scale).rounded())) }
    return PixelSize(scaled(shown.width), scaled(shown.height))
  }

  /// Of the square box that the picture has to fit, or to fill.
  static func boxSide(_ header: ImageHeader, _ job: ImageJob) -> Int {
    let long = max(header.width, header.height)
    let short = min(header.width, header.height)
    if job.cropSquare { return min(job.longEdge, short) }
    // A long screenshot would become unreadable; up to 6 Mpx it keeps its pixels.
    if long > 3 * short, long * short <= 6_000_000, long <= 65_500 { return long }
    return min(job.longEdge, long)
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

extension ImageHeader {
  /// Upright.
  var displaySize: PixelSize {
    // HEIF turns its own picture while it is loaded; EXIF counts elsewhere only.
    let isTurned = orientation >= 5 && format != .heif && format != .avif
    return isTurned ? PixelSize(height, width) : PixelSize(width, height)
  }
}
