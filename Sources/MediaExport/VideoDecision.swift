import ExportProtocol
import TaskModel

/// What is done with a film: pure, from what it is and what is wanted. The exporter carries it out, and a plan tells it.
struct VideoDecision {
  /// One encode.
  struct Attempt: Equatable {
    var rung: String
    var plan: VideoPlan
    /// Bits per second of the sound; nil for what is usual.
    var audioRate: Int64?
    /// Bytes; the encode is given up as soon as it has more.
    var byteLimit: Int64?
  }

  /// Pass it on first of all; only where that does not work out it is encoded.
  var copies: Bool
  /// Bytes that a copy may have.
  var copyLimit: Int64
  /// In order, until one fits.
  var attempts: [Attempt]
  /// Bytes that nothing may have.
  var hardLimit: Int64
  /// A sentence for a person.
  var reason: String

  /// - Throws: `Failure`: `tooLarge` where nothing could fit.
  init(_ source: VideoSource, _ job: VideoJob) throws(Failure) {
    switch job.goal {
    case .box(let box): self.init(source, box)
    case .ladder(let limit, let hardLimit): try self.init(source, limit: limit, hardLimit: hardLimit)
    }
  }

  private init(_ source: VideoSource, _ box: VideoBox) {
    let size = source.picture.displaySize.fitted(longSide: box.longSide, shortSide: box.shortSide)
    let rate = min(box.maximumRate, source.pictureRate ?? .max)
    let rung = "\(box.longSide)x\(box.shortSide)"
    copies = box.remux == .ifClean && source.stain == nil
    copyLimit = .max
    hardLimit = .max
    let plan = VideoPlan(source.picture, size: size, maximumRate: rate, bufferSize: rate)
    attempts = [Attempt(rung: rung, plan: plan)]
    let why = source.stain ?? "\(Words.size(source.bytes)) are too much to go as they are"
    reason = copies ? Self.copying : "Encoded, as \(why)."
  }

  private init(_ source: VideoSource, limit: Int64, hardLimit: Int64) throws(Failure) {
    self.hardLimit = hardLimit
    let shown = source.picture.displaySize
    // A film without a single packet is found out by the encode.
    let seconds = max(source.seconds ?? 0, 0.001)
    let plan = LadderPlan(
      size: shown, seconds: seconds, channels: source.selection.audio?.audio?.channels ?? 0,
      sourceRate: source.pictureRate, limit: limit, hardLimit: hardLimit)
    attempts = plan.steps.map { step in
      Attempt(
        rung: step.rung,
        plan: VideoPlan(
          source.picture, size: step.size, maximumRate: step.videoRate, bufferSize: step.bufferSize),
        audioRate: step.audioRate, byteLimit: step.byteLimit)
    }
    let box = LadderRung.all[0]
    let isInBox = shown.fits(longSide: box.longSide, shortSide: box.shortSide)
    copies = source.stain == nil && source.bytes <= limit && isInBox
    copyLimit = limit
    if copies {
      reason = Self.copying
    } else if let first = plan.steps.first {
      let why =
        source.stain
        ?? (source.bytes > limit
          ? "\(Words.size(source.bytes)) are more than \(Words.size(limit))"
          : "\(shown.width) × \(shown.height) pixels are more than the chat shows")
      reason =
        "Encoded, as \(why): \(Words.span(seconds)) fit into \(Words.size(first.byteLimit)) with "
        + "\(Words.rate(first.videoRate)) at \(first.size.width) × \(first.size.height) pixels."
    } else if source.stain == nil, source.bytes <= hardLimit {
      copies = true
      copyLimit = hardLimit
      reason = "Copied without its metadata, as every player shows it and no encode would be smaller."
    } else {
      throw MediaFailure.tooLong(source.name, seconds: seconds, limit: hardLimit)
    }
  }

  private static let copying = "Copied without its metadata, as every player shows it as it is."
}
