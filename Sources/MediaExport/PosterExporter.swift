public import ExportProtocol
public import TaskModel
import Vips

/// Makes the small pictures that stand for a resource: a film's poster, and a thumbnail of a picture or a film.
public enum PosterExporter {
  /// - Throws: `Failure`; nothing is left of the output then.
  public static func poster(_ input: MediaInput, job: PosterJob, to path: String) throws(Failure) -> ExportResult {
    let output = try OutputFile.create(path)
    let frame = try PosterFrames(input, longEdge: job.longEdge).best()
    return try write(frame, of: input, quality: job.quality, to: output, rung: "poster")
  }

  /// Of the first page of a picture, or of the poster frame of a film.
  /// - Throws: `Failure`; nothing is left of the output then.
  public static func thumbnail(
    _ input: MediaInput, job: ThumbnailJob, to path: String
  ) throws(Failure) -> ExportResult {
    guard try isImage(input) else {
      let output = try OutputFile.create(path)
      let frame = try PosterFrames(input, longEdge: job.edge).best()
      return try write(frame, of: input, quality: job.quality, to: output, rung: "thumbnail")
    }
    let output = try OutputFile.create(path)
    let header = try ImageExporter.header(of: input)
    // Not the plan of a picture: a long screenshot has to fit here, too.
    var result: ExportResult
    do throws(VipsError) {
      let image = try Image.thumbnail(
        descriptor: input.descriptor, part: input.coveredPart, width: job.edge, height: job.edge,
        toSRGB: header.needsConversion
      ).forJPEG().inMemory()
      try image.writeJPEG(descriptor: output.descriptor, quality: job.quality)
      result = ExportResult(
        mime: "image/jpeg", size: 0, width: image.width, height: image.height, rung: "thumbnail",
        blurhash: Preview.blurhash(image))
    } catch {
      throw MediaFailure.of(error, input.name)
    }
    result.size = try output.complete()
    return result
  }

  /// Of the poster, without decoding a frame.
  /// - Throws: `Failure`.
  static func size(_ input: MediaInput, _ job: PosterJob) throws(Failure) -> PixelSize {
    try PosterFrames(input, longEdge: job.longEdge).size
  }

  /// Of the thumbnail, without decoding a pixel.
  /// - Throws: `Failure`.
  static func size(_ input: MediaInput, _ job: ThumbnailJob) throws(Failure) -> PixelSize {
    guard try isImage(input) else { return try PosterFrames(input, longEdge: job.edge).size }
    return try ImageExporter.header(of: input).displaySize.scaled(toFit: job.edge)
  }

  /// By its first bytes; what they do not tell is left to FFmpeg.
  private static func isImage(_ input: MediaInput) throws(Failure) -> Bool {
    guard try input.size() > 0 else { throw MediaFailure.damaged(input.name, "is empty") }
    return input.type.family == .image
  }

  private static func write(
    _ frame: RGBPicture, of input: MediaInput, quality: Int, to output: OutputFile, rung: String
  ) throws(Failure) -> ExportResult {
    let blurhash: String?
    do throws(VipsError) {
      let image = try Image.pixels(width: frame.width, height: frame.height, rgb: frame.bytes)
      try image.writeJPEG(descriptor: output.descriptor, quality: quality)
      blurhash = Preview.blurhash(image)
    } catch {
      throw MediaFailure.of(error, input.name)
    }
    return ExportResult(
      mime: "image/jpeg", size: try output.complete(), width: frame.width, height: frame.height, rung: rung,
      blurhash: blurhash)
  }
}
