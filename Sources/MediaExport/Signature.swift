import Glibc

/// What the first bytes of a file promise. Only to tell "broken" from "something else" and a picture from a film: whether
/// it is true, the decoder says.
enum Signature: Equatable {
  case empty, image, video, audio, unknown

  init(descriptor: Int32) {
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    self.init(Array(bytes.prefix(max(0, count))))
  }

  init(_ bytes: [UInt8]) {
    func has(_ text: StaticString, at offset: Int = 0) -> Bool {
      let count = text.utf8CodeUnitCount
      guard bytes.count >= offset + count else { return false }
      return (0..<count).allSatisfy { bytes[offset + $0] == text.utf8Start[$0] }
    }
    func starts(_ prefix: [UInt8]) -> Bool { bytes.starts(with: prefix) }
    if bytes.isEmpty {
      self = .empty
    } else if starts([0xFF, 0xD8, 0xFF]) || starts([0x89, 0x50, 0x4E, 0x47]) || has("GIF8") || has("II*\0")
      || has("MM\0*") || (has("RIFF") && has("WEBP", at: 8))
    {
      self = .image
    } else if has("ftyp", at: 4) {
      let brands: [StaticString] = ["heic", "heix", "hevc", "heim", "heis", "mif1", "msf1", "avif", "avis"]
      self = brands.contains { has($0, at: 8) } ? .image : has("M4A ", at: 8) || has("M4B ", at: 8) ? .audio : .video
    } else if starts([0x1A, 0x45, 0xDF, 0xA3]) || has("FLV") || (has("RIFF") && has("AVI ", at: 8))
      || ["moov", "mdat", "wide", "free"].contains(where: { has($0, at: 4) })
    {
      self = .video
    } else if has("ID3") || has("fLaC") || has("OggS") || has("#!AMR") || (has("RIFF") && has("WAVE", at: 8)) {
      self = .audio
    } else {
      self = .unknown
    }
  }
}

extension Signature {
  /// Whether a container of the MP4 family is QuickTime's own: that brand, or none at all.
  static func isQuickTime(descriptor: Int32) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 12)
    guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else { return false }
    return bytes[4..<8] != ArraySlice("ftyp".utf8) || bytes[8..<12] == ArraySlice("qt  ".utf8)
  }
}
