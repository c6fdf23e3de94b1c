/// Why a JPEG is not passed on as it is but encoded anew. Nothing of it is an error: decoders are more tolerant.
enum JPEGStain: Error, Hashable, CaseIterable {
  case noJPEG, cutOff
  /// A marker, a length or an order that is legal only in theory, or not even there.
  case odd
  /// Arithmetic, lossless, hierarchical or extended coding, or more than 8 bits.
  case coding
  /// Four components, or three that are not YCbCr.
  case components
  /// Another colour space than sRGB.
  case profile
  /// Turned or mirrored by EXIF.
  case turned
}

/// The parts of a JPEG's first picture, in order (ITU-T T.81, annex B). Strict: every byte belongs to a part, and what
/// photos do not contain is refused. Pure; decodes nothing.
struct JPEGSegments: Equatable {
  enum Part: Equatable {
    /// Marker and content, without the two bytes of length.
    case segment(UInt8, Range<Int>)
    /// The coded pixels after an SOS segment, restart markers included.
    case scan(Range<Int>)
  }

  struct Frame: Equatable {
    var isProgressive: Bool
    var width: Int
    var height: Int
    /// Numbers of the components, which some decoders take for colour names.
    var components: [UInt8]
  }

  private(set) var parts: [Part] = []
  private(set) var frame: Frame
  /// First byte after the picture: second pictures and films of "motion photos" come there.
  private(set) var end = 0

  private static let startOfImage: UInt8 = 0xD8
  private static let endOfImage: UInt8 = 0xD9
  private static let startOfScan: UInt8 = 0xDA

  /// - Parameter bytes: of the whole file.
  init(_ bytes: [UInt8]) throws(JPEGStain) {
    guard bytes.count >= 4, bytes[0] == 0xFF, bytes[1] == Self.startOfImage else { throw .noJPEG }
    var found: Frame?
    var hasScan = false
    var position = 2
    while true {
      guard position + 2 <= bytes.count else { throw .cutOff }
      guard bytes[position] == 0xFF else { throw .odd }
      let marker = bytes[position + 1]
      if marker == Self.endOfImage {
        position += 2
        break
      }
      guard Self.isKnown(marker) else { throw Self.isOtherCoding(marker) ? .coding : .odd }
      guard position + 4 <= bytes.count else { throw .cutOff }
      let length = Int(bytes[position + 2]) << 8 | Int(bytes[position + 3])
      guard length >= 2 else { throw .odd }
      let content = position + 4..<position + 2 + length
      guard content.upperBound <= bytes.count else { throw .cutOff }
      if Self.isFrame(marker) {
        guard found == nil else { throw .odd }
        found = try Self.frame(marker, bytes[content])
      }
      parts.append(.segment(marker, content))
      position = content.upperBound
      if marker == Self.startOfScan {
        guard found != nil else { throw .odd }
        let scan = try Self.scan(bytes, from: position)
        parts.append(.scan(scan))
        position = scan.upperBound
        hasScan = true
      }
    }
    guard let found, hasScan else { throw .odd }
    frame = found
    end = position
  }

  /// APPn, COM, DQT, DHT, DRI, SOS, and the frames of baseline and progressive pictures.
  private static func isKnown(_ marker: UInt8) -> Bool {
    (0xE0...0xEF).contains(marker) || isFrame(marker) || [0xFE, 0xDB, 0xC4, 0xDD, startOfScan].contains(marker)
  }

  private static func isFrame(_ marker: UInt8) -> Bool { marker == 0xC0 || marker == 0xC2 }

  /// The other frames, and the table of arithmetic coding.
  private static func isOtherCoding(_ marker: UInt8) -> Bool { (0xC1...0xCF).contains(marker) && marker != 0xC8 }

  private static func frame(_ marker: UInt8, _ content: ArraySlice<UInt8>) throws(JPEGStain) -> Frame {
    let field = Array(content)
    guard field.count >= 6 else { throw .odd }
    guard field[0] == 8 else { throw .coding }
    let count = Int(field[5])
    guard count == 1 || count == 3 else { throw .components }
    guard field.count == 6 + 3 * count else { throw .odd }
    let frame = Frame(
      isProgressive: marker == 0xC2, width: Int(field[3]) << 8 | Int(field[4]),
      height: Int(field[1]) << 8 | Int(field[2]), components: (0..<count).map { field[6 + 3 * $0] })
    // A height of 0 is said later, in a marker of its own.
    guard frame.width > 0, frame.height > 0 else { throw .odd }
    return frame
  }

  /// Ends before the next marker that is no restart; a data byte FF has a 00 behind it.
  private static func scan(_ bytes: [UInt8], from start: Int) throws(JPEGStain) -> Range<Int> {
    let end = bytes.withUnsafeBufferPointer { bytes in
      var position = start
      while position + 1 < bytes.count {
        if bytes[position] == 0xFF {
          let next = bytes[position + 1]
          guard next == 0 || (0xD0...0xD7).contains(next) else { return position }
          position += 1
        }
        position += 1
      }
      return bytes.count
    }
    guard end < bytes.count else { throw .cutOff }
    guard end > start, bytes[end + 1] != 0xFF else { throw .odd }
    return start..<end
  }
}
