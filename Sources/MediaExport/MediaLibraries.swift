import FFmpeg
public import TaskModel
import Vips

/// The settings that FFmpeg and libvips keep for the whole process.
public enum MediaLibraries {
  /// Call once, on the main thread, before any export.
  /// - Throws: `Failure`.
  public static func prepare() throws(Failure) {
    FFmpegLibrary.prepare(maximumAllocation: MediaLimits.allocation)
    do throws(VipsError) { try VipsLibrary.prepare(threads: min(2, MediaLimits.threads)) } catch {
      throw Failure(.internalError, "libvips does not start: \(error)", remedy: .retry)
    }
  }
}
