import CVips

/// What the header of a picture says; no pixel was decoded.
public struct ImageHeader: Sendable, Hashable {
  /// What the bytes are, whatever the file's name says.
  public enum Format: String, Sendable, CaseIterable {
    case jpeg, png, webp, tiff, gif, heif, avif
  }

  public var format: Format
  /// Stored pixels, of one page.
  public var width: Int
  public var height: Int
  /// EXIF's 1 to 8; from 5 on width and height are shown swapped.
  public var orientation: Int
  public var pages: Int

  public init(format: Format, width: Int, height: Int, orientation: Int = 1, pages: Int = 1) {
    self.format = format
    self.width = width
    self.height = height
    self.orientation = orientation
    self.pages = pages
  }
}

/// A picture, decoded as far as somebody needs it.
public final class Image {
  private let raw: UnsafeMutablePointer<VipsImage>

  private init(_ raw: UnsafeMutablePointer<VipsImage>) { self.raw = raw }

  deinit { g_object_unref(raw) }

  public var width: Int { Int(vips_image_get_width(raw)) }
  public var height: Int { Int(vips_image_get_height(raw)) }
  public var hasAlpha: Bool { vips_image_hasalpha(raw) != 0 }

  /// Whether it has no colour at all.
  public var isGrey: Bool {
    let space = vips_image_guess_interpretation(raw)
    return space == VIPS_INTERPRETATION_B_W || space == VIPS_INTERPRETATION_GREY16
  }

  /// - Parameter descriptor: of a regular file; stays the caller's, its offset moves.
  /// - Returns: nil where no loader that is allowed here knows the bytes.
  public static func header(descriptor: Int32) throws(VipsError) -> ImageHeader? {
    let source = try Source(descriptor: descriptor)
    guard let loader = vips_foreign_find_load_source(source.raw) else {
      vips_error_clear()
      return nil
    }
    guard var format = format(ofLoader: String(cString: loader)) else { return nil }
    guard let opened = tc_vips_open(source.raw) else { throw VipsError.take() }
    let image = Image(opened)
    if format == .heif, image.text("heif-compression") == "av1" { format = .avif }
    return ImageHeader(
      format: format, width: image.width, height: Int(vips_image_get_page_height(image.raw)),
      orientation: Int(vips_image_get_orientation(image.raw)), pages: Int(vips_image_get_n_pages(image.raw)))
  }

  private static func format(ofLoader name: String) -> ImageHeader.Format? {
    let known: [(String, ImageHeader.Format)] = [
      ("Jpeg", .jpeg), ("Png", .png), ("Webp", .webp), ("Tiff", .tiff), ("Nsgif", .gif), ("Heif", .heif),
    ]
    return known.first { name.hasPrefix("VipsForeignLoad" + $0.0) }?.1
  }

  private func text(_ field: String) -> String? {
    guard vips_image_get_typeof(raw, field) != 0 else { return nil }
    var value: UnsafePointer<CChar>?
    guard vips_image_get_string(raw, field, &value) == 0, let value else {
      vips_error_clear()
      return nil
    }
    return String(cString: value)
  }

  /// The first page, upright, in sRGB (or grey), inside a box, never enlarged. A picture that is cut off throws, here or
  /// when it is written.
  /// - Parameter crop: fill the box and cut off from both sides what stands out.
  public static func thumbnail(descriptor: Int32, width: Int, height: Int, crop: Bool) throws(VipsError) -> Image {
    let source = try Source(descriptor: descriptor)
    return try produce { tc_vips_thumbnail(source.raw, &$0, Int32(width), Int32(height), crop ? 1 : 0) }
  }

  /// 8 bits per band, and three bands or one.
  public func converted() throws(VipsError) -> Image {
    let space = isGrey ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
    return try Self.produce { tc_vips_colourspace(raw, &$0, space) }
  }

  public func flattenedOnWhite() throws(VipsError) -> Image {
    try Self.produce { tc_vips_flatten_white(raw, &$0) }
  }

  /// Without any metadata.
  /// - Parameters:
  ///   - descriptor: to write to; stays the caller's.
  ///   - quality: 1 to 100.
  public func writeJPEG(descriptor: Int32, quality: Int) throws(VipsError) {
    guard let target = vips_target_new_to_descriptor(descriptor) else { throw VipsError.take() }
    defer { g_object_unref(target) }
    try check(tc_vips_jpegsave(raw, target, Int32(quality)))
  }

  private static func produce(
    _ operation: (inout UnsafeMutablePointer<VipsImage>?) -> Int32
  ) throws(VipsError) -> Image {
    var result: UnsafeMutablePointer<VipsImage>?
    try check(operation(&result))
    guard let result else { throw VipsError.take() }
    return Image(result)
  }
}

/// Reads a descriptor. A file name would be parsed for options ("a[page=1].jpg"), a descriptor is not.
private final class Source {
  let raw: UnsafeMutablePointer<VipsSource>

  init(descriptor: Int32) throws(VipsError) {
    guard let source = vips_source_new_from_descriptor(descriptor) else { throw VipsError.take() }
    raw = source
    // libvips begins where the descriptor happens to stand.
    if vips_source_rewind(raw) != 0 { throw VipsError.take() }
  }

  deinit { g_object_unref(raw) }
}
