import FFmpeg

/// What becomes of sound that has to be encoded: AAC, one or two channels.
struct AudioPlan: Equatable {
  var settings: AudioEncoderSettings
  private var layout: String { settings.channels == 1 ? "mono" : "stereo" }

  /// - Parameter bitRate: bits per second; nil for what is usual.
  init(_ audio: StreamInfo.Audio, bitRate: Int64? = nil) {
    // 44.1 and 48 kHz are what every player has; others go to the one of the same family.
    let isFamilyOf48 = audio.sampleRate % 8000 == 0 && audio.sampleRate > 0
    // The encoder has not enough for two channels in the fewest bits that the ladder gives.
    let channels = bitRate.map { $0 < 48_000 } == true ? 1 : min(2, max(1, audio.channels))
    settings = AudioEncoderSettings(
      sampleRate: isFamilyOf48 ? 48_000 : 44_100, channels: channels, bitRate: bitRate ?? 64_000 * Int64(channels))
  }

  /// Into one shape, whatever comes: sound may change its rate and its channels on the way.
  var shaping: String {
    "aformat=sample_fmts=fltp:sample_rates=\(settings.sampleRate):channel_layouts=\(layout)"
  }

  /// Onto one unbroken line of time, which the encoder needs. Silence fills what is missing at the start (sound that
  /// begins late) and where the time stamps jump ahead; what lies before the start, or overlaps, is cut.
  ///
  /// `async=1` fills and cuts only. With more it would also stretch, and FFmpeg 5.1 then takes the start for missing a
  /// second time: a clip with one overlap came out a second too long.
  var timing: String { "aresample=async=1:first_pts=0" }
}
