import CFFmpeg

extension Demuxer {
  /// Goes to the last key frame at or before a time. The decoder has to be emptied, too.
  /// - Parameters:
  ///   - seconds: from the start of the file.
  ///   - index: of the stream whose key frames count.
  /// - Throws: `FFmpegError` where the container can't be searched.
  public func seek(to seconds: Double, stream index: Int) throws(FFmpegError) {
    let time = startTime + Int64((seconds * Double(tc_microseconds)).rounded())
    let target = Rational.microseconds.rescale(time, to: timeBase(ofStream: index))
    try check(av_seek_frame(context, Int32(index), target, AVSEEK_FLAG_BACKWARD), "searching the input")
  }
}

extension Frame {
  public var width: Int { Int(raw.pointee.width) }
  public var height: Int { Int(raw.pointee.height) }

  /// The pixels, three bytes each, row by row; nil where it has another format than `rgb24`.
  public var rgb: [UInt8]? {
    guard raw.pointee.format == AV_PIX_FMT_RGB24.rawValue, let start = raw.pointee.data.0, width > 0, height > 0 else {
      return nil
    }
    var pixels: [UInt8] = []
    pixels.reserveCapacity(width * height * 3)
    // Rows are padded, and may run from the last to the first.
    for row in 0..<height {
      pixels += UnsafeBufferPointer(start: start + row * Int(raw.pointee.linesize.0), count: width * 3)
    }
    return pixels
  }
}
