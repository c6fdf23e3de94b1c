import FFmpeg
import Glibc

/// What a file may ask of a worker. Everything beyond is refused before it is decoded.
enum MediaLimits {
  /// An 8K picture; one of video.
  static let videoPixels = 8192 * 4320
  static let imagePixels = 200_000_000
  /// Bytes of one allocation of FFmpeg's.
  static let allocation = 512 << 20
  /// Frames per second that leave.
  static let frameRate = 30.0
  /// Up to so many decode errors per packet, a film is still a film.
  static let toleratedErrors = 0.05
  /// A film of which less can be decoded than its header promises was cut off. Never send a silently short film.
  static let neededShare = 0.9

  private static let videoFormats = [
    "mov", "mp4", "m4a", "3gp", "3g2", "mj2", "matroska", "webm", "avi", "mpegts", "flv", "gif", "apng",
  ]
  private static let audioFormats = ["mp3", "wav", "flac", "ogg", "aac", "amr", "aiff", "caf"]

  static var demuxer: DemuxerLimits {
    DemuxerLimits(formats: videoFormats + audioFormats, maximumPixels: videoPixels)
  }

  static let threads = max(1, min(4, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))

  /// Of a decoder or an encoder. One more than there are cores, as one waits for what another is just making. Pictures this
  /// small do not repay a second thread.
  static func threads(for size: PixelSize) -> Int {
    threads == 1 || size.width * size.height <= 320 * 240 ? 1 : threads + 1
  }
}
