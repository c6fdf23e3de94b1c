/// One moment on both clocks, in milliseconds.
struct Moment: Sendable, Hashable {
  /// Since 1970: what people read, and what may be set to anything at any time.
  let wall: Int64
  /// Of a clock that never jumps: what waits are measured by.
  let steady: Int64
}

/// Tells how long ago a stored time was, although somebody may have set the clock since. Pure.
///
/// Stored times are those of the wall. A wait that was measured by them would freeze for an hour when the clock is set back
/// by one, and a task would expire at once when it is set forward by a day. So each step of the wall is remembered as a new
/// segment, and a stored time is read in the segment in which it was written.
struct WallTimeline {
  private struct Segment {
    let fromSteady: Int64
    /// wall − steady.
    let offset: Int64
  }

  /// What a time daemon corrects without a jump is no step.
  static let toleranceMs: Int64 = 1_000

  private var segments: [Segment]
  private var latest: Moment

  init(_ start: Moment) {
    segments = [Segment(fromSteady: start.steady, offset: start.wall - start.steady)]
    latest = start
  }

  /// Takes over what the clocks say now.
  mutating func note(_ moment: Moment) {
    latest = moment
    let offset = moment.wall - moment.steady
    guard let last = segments.last, abs(offset - last.offset) > Self.toleranceMs else { return }
    segments.append(Segment(fromSteady: moment.steady, offset: offset))
    // Who sets the clock every minute gets the latest steps only.
    if segments.count > 64 { segments.remove(at: 1) }
  }

  /// When a stored time was, on the steady clock. A time that two segments hold is taken for the later one, which lets
  /// waits rather be short and expiry rather be late. One from before the start is read by the start's clock, and one from
  /// the future is now.
  func steady(ofWall wall: Int64) -> Int64 {
    var end = latest.steady
    for segment in segments.reversed() {
      let steady = wall - segment.offset
      if steady >= segment.fromSteady - Self.toleranceMs, steady <= end + Self.toleranceMs { return min(steady, end) }
      end = segment.fromSteady
    }
    return min(wall - segments[0].offset, latest.steady)
  }

  /// Milliseconds that have really passed since a stored time; never negative.
  func elapsed(sinceWall wall: Int64) -> Int64 { max(0, latest.steady - steady(ofWall: wall)) }
}
