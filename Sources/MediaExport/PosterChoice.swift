/// Which moment of a film stands for it. Pure.
enum PosterChoice {
  private static let tries = 10
  /// Standard deviation of the brightness, of 255: black, fades and cards of one colour have less.
  private static let enough = 12.0

  /// Where to look, in seconds: a second in, or a tenth of a short film; then on through the film.
  /// - Parameter duration: of the film, in seconds; nil when unknown.
  static func times(duration: Double?) -> [Double] {
    guard let duration else { return (0..<tries).map(Double.init) }
    let first = min(1, duration / 10)
    return (0..<tries).map { first + (duration - first) * Double($0) / Double(tries) }
  }

  /// How much the brightness varies: its standard deviation, 0 to 127.5.
  static func variation(_ picture: RGBPicture) -> Double {
    var sum = 0.0
    var squares = 0.0
    var count = 0.0
    // A prime number of pixels apart, so that no column is favoured.
    for at in stride(from: 0, to: picture.bytes.count, by: 3 * 7) {
      // Rec. 709.
      let luma =
        0.2126 * Double(picture.bytes[at]) + 0.7152 * Double(picture.bytes[at + 1])
        + 0.0722 * Double(picture.bytes[at + 2])
      sum += luma
      squares += luma * luma
      count += 1
    }
    let mean = sum / count
    return max(0, squares / count - mean * mean).squareRoot()
  }

  static func isTelling(_ variation: Double) -> Bool { variation >= enough }
}
