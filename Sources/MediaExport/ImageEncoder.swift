import ExportProtocol
import Glibc
import TaskModel
import Vips

/// Decodes a picture, makes it as small as planned, and encodes it.
struct ImageEncoder {
  let input: MediaInput
  let header: ImageHeader
  let plan: ImagePlan
  let job: ImageJob

  /// Of HEVC, for about the looks of JPEG's usual quality with a third fewer bytes (measured by SSIM).
  private static let heicQuality = 50

  /// - Throws: `Failure`.
  func write(to output: OutputFile) throws(Failure) -> ExportResult {
    try output.rewind()
    var image: Image
    do throws(VipsError) {
      image = try Image.thumbnail(
        descriptor: input.descriptor, part: input.coveredPart, width: plan.boxSide, height: plan.boxSide,
        crop: job.cropSquare, toSRGB: header.needsConversion
      ).forJPEG()
      if job.format == .jpeg { try image.writeJPEG(descriptor: output.descriptor, quality: job.quality) }
      // Decoded before the encoder begins, so that it is known which of the two failed.
      if job.format == .heic { image = try image.inMemory() }
    } catch {
      throw MediaFailure.of(error, input.name)
    }
    if job.format == .heic {
      do throws(VipsError) { try image.writeHEIC(descriptor: output.descriptor, quality: Self.heicQuality) } catch {
        throw error.isDiskFull ? .writing(ENOSPC) : MediaFailure.noHEIC(input.name, error)
      }
    }
    let blurhash =
      job.format == .heic ? Preview.blurhash(image) : Preview.blurhash(imageDescriptor: output.descriptor)
    return ExportResult(
      mime: job.format.mime, size: try output.size(), width: image.width, height: image.height,
      rung: "\(job.longEdge)", blurhash: blurhash)
  }
}

extension ImageJob.Format {
  var mime: String {
    switch self {
    case .jpeg: "image/jpeg"
    case .heic: "image/heic"
    }
  }
}

extension ImageHeader {
  /// Whether its numbers mean other colours than those of sRGB.
  var needsConversion: Bool {
    if isCMYK { return true }
    // A profile for colours says nothing of a picture without any.
    return profile.map { !ICCProfile.isSRGB($0) && !(isGrey && ICCProfile.isForColours($0)) } ?? false
  }
}

extension Image {
  /// 8 bits and no alpha: JPEG has none, and libvips by itself would show black below it.
  func forJPEG() throws(VipsError) -> Image {
    let image = try converted()
    return image.hasAlpha ? try image.flattenedOnWhite() : image
  }
}

extension OutputFile {
  /// Empties the file and goes to its start, where libvips begins to write.
  func rewind() throws(Failure) {
    guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else { throw .writing(errno) }
  }
}
