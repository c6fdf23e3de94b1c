/// Takes everything private out of a JPEG without touching a pixel: what is not needed to show the first picture is left
/// behind, whatever it is called (EXIF, XMP, IPTC, comments, makers' own segments, previews, second pictures, films after
/// the end). Tables and scan data stay byte for byte the same. Pure.
enum JPEGCleaner {
  private static let comment: UInt8 = 0xFE
  private static let jfif: UInt8 = 0xE0
  private static let exif: UInt8 = 0xE1
  private static let profile: UInt8 = 0xE2
  private static let adobe: UInt8 = 0xEE

  /// - Parameter bytes: of a whole file, whose EXIF orientation is 1 or absent: whoever read it has to look.
  /// - Returns: the file without metadata, never larger.
  /// - Throws: `JPEGStain` where it is no plain sRGB picture that every viewer shows the same.
  static func clean(_ bytes: [UInt8]) throws(JPEGStain) -> [UInt8] {
    let segments = try JPEGSegments(bytes)
    var result: [UInt8] = [0xFF, 0xD8]
    result.reserveCapacity(segments.end)
    var profiles: [ArraySlice<UInt8>] = []
    var exifCount = 0
    var hasJFIF = false
    var transform: UInt8?
    for part in segments.parts {
      switch part {
      case .scan(let range): result += bytes[range]
      case .segment(jfif, let range):
        // Its little preview may show what was cropped from the picture, and goes; so do the extensions (JFXX).
        guard !hasJFIF, range.count >= 14, bytes[range].starts(with: "JFIF\0".utf8) else { continue }
        hasJFIF = true
        append(jfif, bytes[range].prefix(12) + [0, 0], to: &result)
      case .segment(exif, let range):
        if bytes[range].starts(with: "Exif\0".utf8) { exifCount += 1 }
      case .segment(profile, let range):
        if bytes[range].starts(with: "ICC_PROFILE\0".utf8) { profiles.append(bytes[range].dropFirst(12)) }
      case .segment(adobe, let range):
        guard bytes[range].starts(with: "Adobe".utf8) else { continue }
        guard range.count == 12, transform == nil else { throw .odd }
        transform = bytes[range.upperBound - 1]
        append(adobe, bytes[range], to: &result)
      case .segment(0xE0...0xEF, _), .segment(comment, _): continue
      case .segment(let marker, let range): append(marker, bytes[range], to: &result)
      }
    }
    result += [0xFF, 0xD9]
    // Two of them could say two orientations.
    guard exifCount <= 1 else { throw .odd }
    try check(segments.frame, hasJFIF: hasJFIF, transform: transform)
    try check(profiles)
    return result
  }

  private static func append(_ marker: UInt8, _ content: ArraySlice<UInt8>, to result: inout [UInt8]) {
    let length = content.count + 2
    result += [0xFF, marker, UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
    result += content
  }

  /// Decoders guess the colours of three components from the first of these that is there; they must not disagree.
  private static func check(_ frame: JPEGSegments.Frame, hasJFIF: Bool, transform: UInt8?) throws(JPEGStain) {
    if frame.components.count == 1 {
      guard transform ?? 0 == 0 else { throw .components }
    } else if let transform {
      guard transform == 1 else { throw .components }
    } else {
      guard hasJFIF || frame.components == [1, 2, 3] else { throw .components }
    }
  }

  /// Without a profile it is sRGB, and so it is without one of sRGB. `chunks` begin with their number and their count.
  private static func check(_ chunks: [ArraySlice<UInt8>]) throws(JPEGStain) {
    guard !chunks.isEmpty else { return }
    let isWhole = chunks.enumerated().allSatisfy { index, chunk in
      chunk.count > 2 && Int(chunk[chunk.startIndex]) == index + 1
        && Int(chunk[chunk.startIndex + 1]) == chunks.count
    }
    guard isWhole, ICCProfile.isSRGB(chunks.flatMap { Array($0.dropFirst(2)) }) else { throw .profile }
  }
}
