import CVips

/// A rectangle of pixels.
public struct ImagePart: Sendable, Hashable {
  public var left: Int
  public var top: Int
  public var width: Int
  public var height: Int

  public init(left: Int, top: Int, width: Int, height: Int) {
    self.left = left
    self.top = top
    self.width = width
    self.height = height
  }
}

/// A picture, decoded as far as somebody needs it.
public final class Image {
  let raw: UnsafeMutablePointer<VipsImage>

  init(_ raw: UnsafeMutablePointer<VipsImage>) { self.raw = raw }

  deinit { g_object_unref(raw) }

  public var width: Int { Int(vips_image_get_width(raw)) }
  public var height: Int { Int(vips_image_get_height(raw)) }
  public var hasAlpha: Bool { vips_image_hasalpha(raw) != 0 }

  /// Whether it has no colour at all.
  public var isGrey: Bool {
    let space = vips_image_guess_interpretation(raw)
    return space == VIPS_INTERPRETATION_B_W || space == VIPS_INTERPRETATION_GREY16
  }

  /// The first page, upright, inside a box, never enlarged. A picture that is cut off throws, here or when it is written.
  /// - Parameters:
  ///   - part: what counts of it, on white where the rest was; nil for all.
  ///   - crop: fill the box and cut off from both sides what stands out.
  ///   - toSRGB: convert the colours by the picture's profile, or by a usual one for CMYK. Costs as much as all the rest;
  ///     without it the numbers stay, and `converted` changes the way they are stored at most.
  public static func thumbnail(
    descriptor: Int32, part: ImagePart? = nil, width: Int, height: Int, crop: Bool = false, toSRGB: Bool
  ) throws(VipsError) -> Image {
    let source = try Source(descriptor: descriptor)
    if let part {
      return try produce {
        tc_vips_thumbnail_part(
          source.raw, &$0, Int32(part.left), Int32(part.top), Int32(part.width), Int32(part.height), Int32(width),
          Int32(height), crop ? 1 : 0)
      }
    }
    return try produce {
      tc_vips_thumbnail(source.raw, &$0, Int32(width), Int32(height), crop ? 1 : 0, toSRGB ? 1 : 0)
    }
  }

  /// This one inside a box, never enlarged.
  public func thumbnail(width: Int, height: Int) throws(VipsError) -> Image {
    try Self.produce { tc_vips_thumbnail_image(raw, &$0, Int32(width), Int32(height)) }
  }

  /// - Parameter rgb: three bytes for each pixel, in sRGB.
  public static func pixels(width: Int, height: Int, rgb: [UInt8]) throws(VipsError) -> Image {
    guard width > 0, height > 0, rgb.count == width * height * 3 else {
      throw VipsError(message: "these are not the pixels of a picture")
    }
    guard let image = tc_vips_from_rgb(rgb, rgb.count, Int32(width), Int32(height)) else { throw VipsError.take() }
    return Image(image)
  }

  /// Decoded for good, so that it can be read more than once.
  public func inMemory() throws(VipsError) -> Image {
    guard let copy = vips_image_copy_memory(raw) else { throw VipsError.take() }
    return Image(copy)
  }

  /// Three bytes for each pixel, row by row; of a picture that is `converted` and has no alpha.
  public func rgb() throws(VipsError) -> [UInt8] {
    var size = 0
    guard let bytes = vips_image_write_to_memory(raw, &size) else { throw VipsError.take() }
    defer { g_free(bytes) }
    let values = UnsafeRawBufferPointer(start: bytes, count: size)
    switch size {
    case width * height * 3: return Array(values)
    case width * height: return values.flatMap { [$0, $0, $0] }
    default: throw VipsError(message: "these are not the pixels of a picture")
    }
  }

  /// Decodes all of it for nothing but to see that it can be done without a complaint of the decoder.
  /// - Throws: `VipsError` with the complaint.
  public static func verify(descriptor: Int32) throws(VipsError) {
    let source = try Source(descriptor: descriptor)
    try check(tc_vips_verify(source.raw))
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

  /// Whether libvips was built, or found its module, for HEIF; an encoder may still be missing.
  public static var canWriteHEIC: Bool { vips_type_find("VipsOperation", "heifsave_target") != 0 }

  /// HEVC in HEIF, without any metadata.
  /// - Parameter quality: 1 to 100, on another scale than JPEG's: 50 looks about the same as JPEG's 80.
  public func writeHEIC(descriptor: Int32, quality: Int) throws(VipsError) {
    guard let target = vips_target_new_to_descriptor(descriptor) else { throw VipsError.take() }
    defer { g_object_unref(target) }
    try check(tc_vips_heifsave(raw, target, Int32(quality)))
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
final class Source {
  let raw: UnsafeMutablePointer<VipsSource>

  init(descriptor: Int32) throws(VipsError) {
    guard let source = vips_source_new_from_descriptor(descriptor) else { throw VipsError.take() }
    raw = source
    // libvips begins where the descriptor happens to stand.
    if vips_source_rewind(raw) != 0 { throw VipsError.take() }
  }

  deinit { g_object_unref(raw) }
}
