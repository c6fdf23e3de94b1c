import ExportProtocol

/// One size of the ladder that films go down until they fit into the bytes that a chat takes.
struct LadderRung: Sendable, Hashable {
  var longSide: Int
  var shortSide: Int
  /// Bits per second of the picture below which the next smaller size shows more. Measured here: at 400 kb/s a film looks
  /// as good at 960×540 as at 1280×720 or better, at 900 kb/s it looks better at 1280×720.
  var minimumRate: Double
  /// Bits per second of stereo sound.
  var audioRate: Int64

  var name: String { "\(longSide)x\(shortSide)" }
  /// Bits per second of the picture; more would not be seen at this size.
  var maximumRate: Double { Double(VideoBox.usualMaximumRate(shortSide: shortSide)) }

  static let all = [
    LadderRung(longSide: 1280, shortSide: 720, minimumRate: 900_000, audioRate: 128_000),
    LadderRung(longSide: 960, shortSide: 540, minimumRate: 450_000, audioRate: 128_000),
    LadderRung(longSide: 640, shortSide: 480, minimumRate: 350_000, audioRate: 96_000),
    LadderRung(longSide: 568, shortSide: 360, minimumRate: 200_000, audioRate: 64_000),
    LadderRung(longSide: 426, shortSide: 240, minimumRate: 0, audioRate: 48_000),
  ]
}

/// Which encodes to try, in order, until one fits; the first one nearly always does. A value: the same film and limits
/// give the same plan, and what is told beforehand is what is done.
///
/// The limit and the length of the film leave so many bits per second. The largest rung that looks good at this rate is
/// encoded once, at constant quality under that rate as a ceiling. x264 keeps to such a ceiling but for what its buffer
/// holds at the start, so the size is known without a trial: of 32 sends measured here none was over its limit, at 0.80
/// of it on average, where predictions from a trial encode were off by up to 75 %.
struct LadderPlan: Equatable {
  /// One encode.
  struct Step: Equatable {
    /// Of the first rung with this size.
    var rung: String
    /// Of the output.
    var size: PixelSize
    /// Bits per second of the picture at most.
    var videoRate: Int64
    /// Bits that the picture may be ahead of its rate.
    var bufferSize: Int64
    /// Bits per second; 0 without sound.
    var audioRate: Int64
    /// Bytes; the encode is given up as soon as it has more.
    var byteLimit: Int64
  }

  /// Empty where nothing could fit.
  private(set) var steps: [Step] = []

  /// - Parameters:
  ///   - size: of the film, as it is shown.
  ///   - seconds: of the film.
  ///   - channels: of its sound; 0 without.
  ///   - sourceRate: bits per second of the picture that are enough for all there is in the source; nil when unknown.
  ///   - limit: bytes.
  ///   - hardLimit: bytes that the last rung may have where it does not fit into `limit`.
  init(size: PixelSize, seconds: Double, channels: Int, sourceRate: Int64?, limit: Int64, hardLimit: Int64) {
    let sums = LadderSums(seconds: seconds, channels: channels, sourceRate: sourceRate.map(Double.init))
    let rungs = Self.fitted(LadderRung.all, to: size)
    guard var index = rungs.firstIndex(where: { sums.rate($0.rung, in: limit) >= $0.rung.minimumRate }) else {
      // Nothing fits well: the smallest one goes out all the same, if it is watchable within the hard limit.
      if let last = rungs.last { steps = [sums.barely(last, hardLimit: hardLimit)].compactMap { $0 } }
      return
    }
    while true {
      let rung = rungs[index]
      let next = rungs[index...].firstIndex { $0.size != rung.size }
      let step = sums.step(rung, limit: limit)
      steps += [step, sums.smaller(step, byteLimit: next == nil ? hardLimit : limit)]
      guard let next else { return }
      index = next
    }
  }

  struct FittedRung: Equatable {
    var rung: LadderRung
    var name: String
    var size: PixelSize
  }

  /// A rung that makes a film no smaller than the one above is that one, at another rate.
  private static func fitted(_ rungs: [LadderRung], to size: PixelSize) -> [FittedRung] {
    rungs.reduce(into: []) { fitted, rung in
      let size = size.fitted(longSide: rung.longSide, shortSide: rung.shortSide)
      let isSame = fitted.last?.size == size
      fitted.append(FittedRung(rung: rung, name: isSame ? fitted.last?.name ?? rung.name : rung.name, size: size))
    }
  }
}

/// The arithmetic of one film's ladder; rates are bits per second.
struct LadderSums {
  let seconds: Double
  let channels: Int
  let sourceRate: Double?

  /// Of a limit's bytes; the rest is for what the encoder does not promise. Without it 0.998 of a limit was reached.
  private static let usedShare = 0.97
  /// The tables of an MP4.
  private static let tablesRate = 2_500.0
  /// The buffer of a ceiling in seconds, and in a short film as a share of it: what is in there comes on top of the rate.
  private static let longestBuffer = 1.0
  private static let bufferShare = 0.05
  /// x264 starts with a buffer that is so full.
  private static let initialFill = 0.9
  /// Below this nobody can see what a film is about.
  private static let watchableRate = 60_000.0
  /// Below this total the sound gives way.
  private static let scarceRate = 200_000.0
  private static let scarceAudioRate: Int64 = 32_000
  private static let audioRatePerChannel: Int64 = 64_000
  /// For the second try at one size.
  private static let smallerShare = 0.93

  /// A source with less to show needs no more than it has.
  var leastRate: Double { min(Self.watchableRate, sourceRate ?? .infinity) }

  private func total(_ limit: Int64) -> Double { Double(limit) * 8 * Self.usedShare / seconds }

  private func audioRate(_ rung: LadderRung, in limit: Int64) -> Int64 {
    guard channels > 0 else { return 0 }
    let isScarce = rung == LadderRung.all.last && total(limit) < Self.scarceRate
    return min(isScarce ? Self.scarceAudioRate : rung.audioRate, Self.audioRatePerChannel * Int64(min(channels, 2)))
  }

  /// What the limit leaves for the picture.
  private func pictureRate(_ rung: LadderRung, in limit: Int64) -> Double {
    total(limit) - Double(audioRate(rung, in: limit)) - Self.tablesRate
  }

  private var buffer: Double { min(Self.longestBuffer, Self.bufferShare * seconds) }

  /// The ceiling with which the picture fits into the limit even if it uses its buffer up.
  func rate(_ rung: LadderRung, in limit: Int64) -> Double {
    let rate = pictureRate(rung, in: limit) * seconds / (seconds + Self.initialFill * buffer)
    // The last rung takes any rate, but not one that shows nothing.
    return rung.minimumRate > 0 || rate >= leastRate ? rate : -1
  }

  func step(_ rung: LadderPlan.FittedRung, limit: Int64) -> LadderPlan.Step {
    step(rung, rate: rate(rung.rung, in: limit), limit: limit)
  }

  /// The last rung where it can't fit into the limit: no larger than it has to be.
  /// - Returns: nil where it does not even fit into the hard limit.
  func barely(_ rung: LadderPlan.FittedRung, hardLimit: Int64) -> LadderPlan.Step? {
    guard rate(rung.rung, in: hardLimit) >= leastRate else { return nil }
    return step(rung, rate: leastRate, limit: hardLimit)
  }

  private func step(_ rung: LadderPlan.FittedRung, rate: Double, limit: Int64) -> LadderPlan.Step {
    let videoRate = min(rate, rung.rung.maximumRate, sourceRate ?? .infinity)
    // Where the limit leaves more than the rung wants, the buffer may be as large as it is good for the picture.
    let room = (pictureRate(rung.rung, in: limit) / videoRate - 1) * seconds / Self.initialFill
    let buffer = min(Self.longestBuffer, max(buffer, room))
    return LadderPlan.Step(
      rung: rung.name, size: rung.size, videoRate: Int64(videoRate), bufferSize: max(1, Int64(videoRate * buffer)),
      audioRate: audioRate(rung.rung, in: limit), byteLimit: limit)
  }

  /// The same once more, should the encoder have broken its promise.
  func smaller(_ step: LadderPlan.Step, byteLimit: Int64) -> LadderPlan.Step {
    var smaller = step
    smaller.videoRate = Int64(Double(step.videoRate) * Self.smallerShare)
    smaller.bufferSize = max(1, Int64(Double(step.bufferSize) * Self.smallerShare))
    smaller.byteLimit = byteLimit
    return smaller
  }
}
