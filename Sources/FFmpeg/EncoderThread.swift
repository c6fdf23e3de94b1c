import Dispatch
import Synchronization

/// An encoder that works on a thread of its own, while its owner decodes and scales the next pictures. x264 has threads for
/// what is inside of pictures already; but whoever hands it one waits for an older one to be done, and as long as that is
/// the thread that decodes, a core idles.
///
/// Two threads share the line of pictures and that of packets, and nothing else: the encoder is the thread's, a picture
/// that was handed over is emptied, and the output stays with the owner.
public final class EncoderThread {
  /// Pictures that may wait: enough for a moment in which decoding is the slower one, and little memory.
  private static let depth = 4

  private let line: Line
  private var hasEnded = false
  private var hasFinished = false

  /// Of the packets.
  public let timeBase: Rational
  /// Samples that one packet of sound takes; 0 where any number goes.
  public let frameSize: Int

  /// Call it when the encoder has been asked for everything else: it is this thread's from here on.
  public init(_ encoder: Encoder) {
    timeBase = encoder.timeBase
    frameSize = encoder.frameSize
    let line = Line(encoder, depth: Self.depth)
    self.line = line
    DispatchQueue(label: "taskcenter.encoder").async { line.run() }
  }

  /// Ends the thread, whatever it still had to do, and returns when it has ended.
  deinit {
    guard !hasFinished else { return }
    line.abandon()
    line.finished.wait()
  }

  /// Waits where too many pictures wait already.
  /// - Parameter frame: emptied; nil at the end.
  /// - Throws: `FFmpegError` of an earlier picture, from then on each time.
  public func send(_ frame: Frame?) throws(FFmpegError) {
    line.room.wait()
    do throws(FFmpegError) { try line.checkHealth() } catch {
      // Nobody makes room any more.
      line.room.signal()
      throw error
    }
    guard let frame else {
      hasEnded = true
      return line.put(nil)
    }
    let own = try Frame()
    own.take(frame)
    line.put(own)
  }

  /// - Returns: false where none is ready; after the end, which is waited for, where there is none any more.
  /// - Throws: `FFmpegError` of an earlier picture.
  public func receive(into packet: Packet) throws(FFmpegError) -> Bool {
    if hasEnded, !hasFinished {
      line.finished.wait()
      hasFinished = true
    }
    guard let ready = line.takePacket() else {
      try line.checkHealth()
      return false
    }
    packet.take(ready)
    return true
  }
}

/// What both threads see.
///
/// `@unchecked`: `encoder` is used by `run` alone, which runs once, and released when both are done. Pictures and packets
/// lie in `state`, and whoever puts one in keeps no reference to it.
private final class Line: @unchecked Sendable {
  private struct State {
    /// Nil is the end.
    var frames: [Handed<Frame?>] = []
    var packets: [Handed<Packet>] = []
    var failure: FFmpegError?
    var isAbandoned = false
  }

  /// `@unchecked`: see `Line`.
  private struct Handed<Value>: @unchecked Sendable { let value: Value }

  private let encoder: Encoder
  private let state = Mutex(State())
  private let work = DispatchSemaphore(value: 0)
  /// Begins with nothing, as a semaphore must not go with less than it came with.
  let room = DispatchSemaphore(value: 0)
  let finished = DispatchSemaphore(value: 0)

  init(_ encoder: Encoder, depth: Int) {
    self.encoder = encoder
    for _ in 0..<depth { room.signal() }
  }

  // MARK: The owner's side

  func put(_ frame: Frame?) {
    let handed = Handed(value: frame)
    state.withLock { $0.frames.append(handed) }
    work.signal()
  }

  func takePacket() -> Packet? {
    state.withLock { $0.packets.isEmpty ? nil : $0.packets.removeFirst() }?.value
  }

  func checkHealth() throws(FFmpegError) {
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  func abandon() {
    state.withLock { $0.isAbandoned = true }
    work.signal()
  }

  // MARK: The thread's side

  func run() {
    do throws(FFmpegError) {
      while let frame = next() {
        try encoder.send(frame)
        try collect()
        if frame == nil { break }
      }
    } catch {
      state.withLock { $0.failure = error }
      // Whoever waits for room hears of it.
      room.signal()
    }
    finished.signal()
  }

  /// - Returns: nil where nobody wants more; a picture, or nil for the end.
  private func next() -> Frame?? {
    work.wait()
    let handed = state.withLock { $0.isAbandoned ? nil : $0.frames.removeFirst() }
    room.signal()
    return handed.map(\.value)
  }

  private func collect() throws(FFmpegError) {
    while true {
      let packet = try Packet()
      guard try encoder.receive(into: packet) else { return }
      let handed = Handed(value: packet)
      state.withLock { $0.packets.append(handed) }
    }
  }
}
