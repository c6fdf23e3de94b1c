import Testing

@testable import MediaExport

/// The expected words come from another implementation: `blurhash` 1.1.5 of PyPI (`encode(pixels, 4, 3)`).
@Suite("Blurhash")
struct BlurhashTests {
  static let pictures: [(name: String, width: Int, height: Int, pixel: @Sendable (Int, Int) -> [Int], word: String)] = [
    ("black", 8, 8, { _, _ in [0, 0, 0] }, "L00000fQfQfQfQfQfQfQfQfQfQfQ"),
    ("white", 8, 8, { _, _ in [255, 255, 255] }, "LfTSUA~qfQ~q~qt7fQt7fQfQfQfQ"),
    ("red", 5, 7, { _, _ in [255, 0, 0] }, "L*TI:j|cfQ|c]9sUfQsUfQfQfQfQ"),
    ("one grey pixel", 1, 1, { _, _ in [128, 128, 128] }, "L;Eyb[~q~q~q~q~q~q~q~q~q~q~q"),
    ("a gradient", 32, 24, { [$0 * 8, $1 * 10, $0 * $1 % 256] }, "LxH27h2lwtX3mAWUjwfAgFfmfTfi"),
    ("two halves", 32, 32, { x, _ in x < 16 ? [255, 0, 0] : [0, 0, 255] }, "L~LjfL|TsRJro3n~jsa}fQfQfQfQ"),
    (
      "noise", 17, 31, { [($0 * 73 + $1 * 151) % 256, ($0 * 199 + $1 * 31) % 256, ($0 * $0 + $1 * $1 * 7) % 256] },
      "L8HV9s?YWf?dx,SZabW?rVaGi@ad"
    ),
  ]

  @Test("The same word as the reference's, letter by letter", arguments: pictures.indices)
  func word(index: Int) throws {
    let (name, width, height, pixel, word) = Self.pictures[index]
    var bytes: [UInt8] = []
    for y in 0..<height { for x in 0..<width { bytes += pixel(x, y).map { UInt8($0) } } }
    let picture = try #require(RGBPicture(width: width, height: height, bytes: bytes))
    #expect(Blurhash.encode(picture) == word, "\(name)")
  }

  @Test("Bytes that are too few or too many are no picture")
  func noPicture() {
    #expect(RGBPicture(width: 2, height: 2, bytes: [1, 2, 3]) == nil)
    #expect(RGBPicture(width: 0, height: 0, bytes: []) == nil)
  }
}
