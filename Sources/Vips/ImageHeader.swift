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
  /// Made for printing: cyan, magenta, yellow, black.
  public var isCMYK: Bool
  public var isGrey: Bool
  /// Its colour profile (ICC), if it has one.
  public var profile: [UInt8]?

  public init(
    format: Format, width: Int, height: Int, orientation: Int = 1, pages: Int = 1, isCMYK: Bool = false,
    isGrey: Bool = false, profile: [UInt8]? = nil
  ) {
    self.format = format
    self.width = width
    self.height = height
    self.orientation = orientation
    self.pages = pages
    self.isCMYK = isCMYK
    self.isGrey = isGrey
    self.profile = profile
  }

  /// HEIF and AVIF turn their own picture while it is loaded, and EXIF does not count there.
  public var isShownTurned: Bool { orientation >= 5 && format != .heif && format != .avif }
}

extension Image {
  /// - Parameter descriptor: of a regular file; stays the caller's, its offset moves.
  /// - Returns: nil where no loader that is allowed here knows the bytes.
  public static func header(descriptor: Int32) throws(VipsError) -> ImageHeader? {
    let source = try Source(descriptor: descriptor)
    guard let loader = tc_vips_loader(source.raw) else {
      vips_error_clear()
      return nil
    }
    guard var format = format(ofLoader: String(cString: loader)) else { return nil }
    guard let opened = tc_vips_open(source.raw) else { throw VipsError.take() }
    let image = Image(opened)
    if format == .heif, image.text("heif-compression") == "av1" { format = .avif }
    return ImageHeader(
      format: format, width: image.width, height: Int(vips_image_get_page_height(opened)),
      orientation: Int(vips_image_get_orientation(opened)), pages: Int(vips_image_get_n_pages(opened)),
      isCMYK: vips_image_guess_interpretation(opened) == VIPS_INTERPRETATION_CMYK,
      isGrey: image.isGrey, profile: image.blob("icc-profile-data"))
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

  private func blob(_ field: String) -> [UInt8]? {
    guard vips_image_get_typeof(raw, field) != 0 else { return nil }
    var value: UnsafeRawPointer?
    var size = 0
    guard vips_image_get_blob(raw, field, &value, &size) == 0, let value else {
      vips_error_clear()
      return nil
    }
    return Array(UnsafeRawBufferPointer(start: value, count: size))
  }
}
