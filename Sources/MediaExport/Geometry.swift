import FFmpeg

/// Width and height in pixels.
struct PixelSize: Sendable, Hashable, CustomStringConvertible {
  var width: Int
  var height: Int

  init(_ width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }

  var description: String { "\(width)x\(height)" }
  var turned: PixelSize { PixelSize(height, width) }

  /// This size inside a box that turns with the picture: aspect kept, never enlarged, sides even (as 4:2:0 needs them),
  /// at least 2.
  func fitted(longSide: Int, shortSide: Int) -> PixelSize {
    let box = width >= height ? PixelSize(longSide, shortSide) : PixelSize(shortSide, longSide)
    let scale = min(1, Double(box.width) / Double(width), Double(box.height) / Double(height))
    func even(_ side: Int, within limit: Int) -> Int {
      let nearest = Int(Double(side) * scale / 2 + 0.5) * 2
      // A side of 853 becomes 852 and not 854: that would be an enlargement.
      return max(2, min(limit / 2 * 2, side / 2 * 2, nearest))
    }
    return PixelSize(even(width, within: box.width), even(height, within: box.height))
  }

  /// As a picture is scaled: aspect kept, never enlarged, sides to the nearest pixel, at least 1.
  func scaled(toFit edge: Int) -> PixelSize {
    let scale = min(1, Double(edge) / Double(max(width, height, 1)))
    func side(_ length: Int) -> Int { max(1, Int((Double(length) * scale).rounded())) }
    return PixelSize(side(width), side(height))
  }

  func fits(longSide: Int, shortSide: Int) -> Bool {
    max(width, height) <= longSide && min(width, height) <= shortSide
  }
}

/// How stored pixels become displayed ones: mirror first, then turn clockwise.
enum Orientation: Sendable, Hashable, CaseIterable {
  case upright, clockwise90, half, clockwise270
  case mirrored, mirroredUpsideDown, transposed, antiTransposed

  /// The nearest of the eight. Phones write exact ones; the front camera writes mirrored ones, for which the angle alone
  /// (what FFmpeg offers) would turn a selfie upside down.
  init(_ matrix: DisplayMatrix?) {
    guard let matrix else {
      self = .upright
      return
    }
    let (a, b, c, d) = (Int64(matrix.a), Int64(matrix.b), Int64(matrix.c), Int64(matrix.d))
    if abs(a) + abs(d) >= abs(b) + abs(c) {
      switch (a < 0, d < 0) {
      case (false, false): self = .upright
      case (true, true): self = .half
      case (true, false): self = .mirrored
      case (false, true): self = .mirroredUpsideDown
      }
    } else {
      switch (b < 0, c < 0) {
      case (false, true): self = .clockwise90
      case (true, false): self = .clockwise270
      case (false, false): self = .transposed
      case (true, true): self = .antiTransposed
      }
    }
  }

  var swapsSides: Bool {
    switch self {
    case .clockwise90, .clockwise270, .transposed, .antiTransposed: true
    case .upright, .half, .mirrored, .mirroredUpsideDown: false
    }
  }

  /// FFmpeg's filters that do it to pixels.
  var filters: [String] {
    switch self {
    case .upright: []
    case .clockwise90: ["transpose=clock"]
    case .half: ["hflip", "vflip"]
    case .clockwise270: ["transpose=cclock"]
    case .mirrored: ["hflip"]
    case .mirroredUpsideDown: ["vflip"]
    case .transposed: ["transpose=cclock_flip"]
    case .antiTransposed: ["transpose=clock_flip"]
    }
  }
}

extension StreamInfo.Video {
  var orientation: Orientation { Orientation(displayMatrix) }

  /// Square pixels, before turning.
  var squareSize: PixelSize {
    guard let aspect = sampleAspect.value, aspect != 1 else { return PixelSize(width, height) }
    return PixelSize(max(1, Int((Double(width) * aspect).rounded())), height)
  }

  /// As a player shows it.
  var displaySize: PixelSize { orientation.swapsSides ? squareSize.turned : squareSize }
}
