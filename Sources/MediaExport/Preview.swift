import ExportProtocol
import FFmpeg
import Glibc
import TaskModel
import Vips

/// The blurhash of what goes out. It is an ornament: where it can't be made, the export is none the worse.
public enum Preview {
  /// Pixels of the longer side: a blurhash shows less.
  private static let edge = 32

  /// - Parameter path: of a finished film.
  public static func blurhash(filmPath path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let input = MediaInput(descriptor: descriptor, name: "")
    guard let frame = try? PosterFrames(input, longEdge: edge, patience: 1).best() else { return nil }
    return Blurhash.encode(frame)
  }

  /// - Parameter descriptor: of a JPEG that was made here; its offset moves.
  static func blurhash(imageDescriptor descriptor: Int32) -> String? {
    // The decoder leaves out most of the work: a small picture is in the coefficients.
    (try? Image.thumbnail(descriptor: descriptor, width: edge, height: edge, toSRGB: false)).flatMap(hash)
  }

  static func blurhash(_ image: Image) -> String? {
    (try? image.thumbnail(width: edge, height: edge)).flatMap(hash)
  }

  private static func hash(_ image: Image) -> String? {
    guard let small = try? image.forJPEG(), let bytes = try? small.rgb(),
      let picture = RGBPicture(width: small.width, height: small.height, bytes: bytes)
    else { return nil }
    return Blurhash.encode(picture)
  }
}
