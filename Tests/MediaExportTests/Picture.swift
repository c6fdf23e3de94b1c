import Foundation
import Testing

/// Decoded pixels of a picture, or of one frame of a film, as FFmpeg's command line sees them.
struct Picture {
  let width: Int
  let height: Int
  private let bytes: Data

  /// - Parameter time: seconds into a film.
  init(_ path: String, at time: Double = 0) throws {
    let info = try MediaInfo(path)
    let stream = try #require(info.streams.first { $0["codec_type"] as? String == "video" })
    width = try #require(stream["width"] as? Int)
    height = try #require(stream["height"] as? Int)
    bytes = try run(
      "ffmpeg", "-v", "error", "-ss", "\(time)", "-i", path, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24",
      "-")
    try #require(bytes.count >= width * height * 3)
  }

  subscript(x: Int, y: Int) -> [Int] {
    let start = (y * width + x) * 3
    return bytes[start..<start + 3].map { Int($0) }
  }

  var size: [Int] { [width, height] }
  var centre: [Int] { self[width / 2, height / 2] }

  /// The corners' colours: top left, top right, bottom left, bottom right. The corpus has RGBY, upright.
  var corners: String {
    let inset = max(0, min(width, height) / 14)
    let (right, bottom) = (width - 1 - inset, height - 1 - inset)
    return [self[inset, inset], self[right, inset], self[inset, bottom], self[right, bottom]].map(Self.name).joined()
  }

  private static func name(_ pixel: [Int]) -> String {
    let (red, green, blue) = (pixel[0], pixel[1], pixel[2])
    if red > 110, green > 110, blue < 120 { return "Y" }
    if red > 110, green < 110, blue < 110 { return "R" }
    if green > 110, red < 140, blue < 140 { return "G" }
    return blue > 90 && red < 120 && green < 140 ? "B" : "?"
  }
}

/// What ffprobe says about a file.
struct MediaInfo {
  let streams: [[String: Any]]
  let format: [String: Any]

  init(_ path: String) throws {
    let data = try run("ffprobe", "-v", "error", "-show_streams", "-show_format", "-of", "json", path)
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    streams = object["streams"] as? [[String: Any]] ?? []
    format = object["format"] as? [String: Any] ?? [:]
  }

  var duration: Double { (format["duration"] as? String).flatMap(Double.init) ?? 0 }
  func stream(_ kind: String) throws -> [String: Any] {
    try #require(streams.first { $0["codec_type"] as? String == kind })
  }
}

/// Top-level boxes of an MP4, in order.
func boxes(_ path: String) throws -> [String] {
  let data = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  var found: [String] = []
  var offset = 0
  while offset + 8 <= data.count {
    let size = data[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    found.append(String(decoding: data[offset + 4..<offset + 8], as: UTF8.self))
    guard size >= 8 else { break }
    offset += size
  }
  return found
}

extension Data {
  func occurrences(of bytes: [UInt8]) -> Int {
    var count = 0
    var rest = startIndex..<endIndex
    while let found = range(of: Data(bytes), in: rest) {
      count += 1
      rest = found.upperBound..<endIndex
    }
    return count
  }
}

func contains(_ path: String, _ text: String) throws -> Bool {
  try Data(contentsOf: URL(fileURLWithPath: path)).range(of: Data(text.utf8)) != nil
}
