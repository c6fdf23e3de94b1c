/// Which frames stay when a film has too many of them. Frames are only ever dropped, never doubled or moved.
struct FrameRateCap {
  private let isActive: Bool
  private var lastKept: Double?

  /// Some slack below a thirtieth: clocks of phones wobble.
  private static let shortestGap = 1 / MediaLimits.frameRate - 0.002

  init(isActive: Bool) { self.isActive = isActive }

  /// - Parameter time: of the next frame in seconds; a time that is not after the last one is never kept.
  mutating func keeps(_ time: Double) -> Bool {
    if let lastKept {
      guard time > lastKept, !isActive || time - lastKept >= Self.shortestGap else { return false }
    }
    lastKept = time
    return true
  }
}
