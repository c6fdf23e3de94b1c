import Vips

/// Where the first picture of a GIF lies on its canvas (GIF89a, sections 18 to 26). Browsers show the page around it; libvips
/// shows black.
enum GIFCanvas {
  /// - Parameter head: the first bytes of the file, some thousand where it has so many.
  /// - Returns: the part of the canvas that the first picture covers; nil where that is all of it, or can't be told.
  static func coveredPart(_ head: [UInt8]) -> ImagePart? {
    guard head.starts(with: "GIF8".utf8), head.count > 13 else { return nil }
    func number(_ offset: Int) -> Int { Int(head[offset]) | Int(head[offset + 1]) << 8 }
    func colours(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
    let canvas = (width: number(6), height: number(8))
    var next = 13 + colours(head[10])
    // An extension: its kind, then blocks of up to 255 bytes, the last of which is empty.
    while next + 10 <= head.count, head[next] == 0x21 {
      next += 2
      while next < head.count, head[next] != 0 { next += Int(head[next]) + 1 }
      next += 1
    }
    guard next + 10 <= head.count, head[next] == 0x2C else { return nil }
    let part = ImagePart(
      left: number(next + 1), top: number(next + 3), width: number(next + 5), height: number(next + 7))
    let isInside = part.left + part.width <= canvas.width && part.top + part.height <= canvas.height
    let coversAll = part.width >= canvas.width && part.height >= canvas.height
    return isInside && !coversAll && part.width > 0 && part.height > 0 ? part : nil
  }
}

extension MediaInput {
  /// The part of a picture that is really there; nil for all of it.
  var coveredPart: ImagePart? { GIFCanvas.coveredPart(bytes(at: 0, count: 1 << 16)) }
}
