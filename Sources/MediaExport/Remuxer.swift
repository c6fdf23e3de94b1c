import FFmpeg
import TaskModel

/// What a look at every packet of some streams tells, without decoding.
struct StreamScan {
  /// Of each stream, in seconds from the start of the file; nil where it has no packets.
  private(set) var ends: [Int: Double] = [:]
  /// Whether the packets can be passed on: each says its time, each stream begins with a key frame and stays what it
  /// was, and no edit list hides a part of the film, which copied packets would let out.
  private(set) var isCopyable = true

  /// Where what is played ends, without what an edit list hides; nil where no packet says its time.
  private(set) var playedEnd: Double?
  /// Of each stream.
  private(set) var packets: [Int: Int] = [:]

  var end: Double? { ends.values.max() }

  /// An edit list also skips what an AAC encoder needs to get going, which is no part of the sound; in seconds.
  private static let longestPriming = 0.1

  /// Reads the whole file.
  /// - Throws: `Failure`.
  init(_ input: MediaInput, streams: [StreamInfo]) throws(Failure) {
    let demuxer = try input.demuxer()
    demuxer.select(streams: streams.map(\.index))
    let start = Rational.microseconds.seconds(demuxer.startTime)
    do throws(FFmpegError) {
      let packet = try Packet()
      var hidden: [Int: Double] = [:]
      var timed: Set<Int> = []
      var odd = 0
      var sets: [Int: ParameterSets] = [:]
      for stream in streams where stream.codec == "h264" {
        sets[stream.index] = ParameterSets(header: demuxer.decoderHeader(ofStream: stream.index))
      }
      let mp3 = Set(streams.lazy.filter { $0.codec == "mp3" }.map(\.index))
      while demuxer.readAhead(into: packet) {
        let index = packet.streamIndex
        guard streams.contains(where: { $0.index == index }) else { continue }
        let isFirst = ends[index] == nil
        packets[index, default: 0] += 1
        if packet.changesParameters || (isFirst && !packet.isKey) { isCopyable = false }
        if packet.isKey, let sets = sets[index], packet.withBytes(sets.areChanged) { isCopyable = false }
        if packet.isDiscarded {
          hidden[index, default: 0] += demuxer.timeBase(ofStream: index).seconds(packet.duration)
        }
        if mp3.contains(index), !packet.isMP3Frame { odd += 1 }
        // Matroska has no decoding times, and FFmpeg finds them only when it has seen how far the pictures are reordered.
        if packet.decoding != nil { timed.insert(index) } else if timed.contains(index) { isCopyable = false }
        guard let time = packet.presentation else {
          isCopyable = false
          continue
        }
        let end = demuxer.timeBase(ofStream: index).seconds(time + packet.duration) - start
        ends[index] = max(ends[index] ?? 0, end)
        if !packet.isDiscarded { playedEnd = max(playedEnd ?? 0, end) }
      }
      if odd > max(3, Int(Double(packets.values.reduce(0, +)) * MediaLimits.toleratedErrors)) { isCopyable = false }
      if !streams.allSatisfy({ timed.contains($0.index) }) { isCopyable = false }
      for stream in streams where hidden[stream.index, default: 0] > (stream.video == nil ? Self.longestPriming : 0) {
        isCopyable = false
      }
    } catch {
      throw MediaFailure.of(error, input.name)
    }
    if let number = demuxer.readError { throw MediaFailure.unreadable(input.name, number) }
    guard !demuxer.isEncrypted else { throw MediaFailure.encrypted(input.name) }
  }
}

/// Passes coded packets on into a new container: no metadata, no other tracks, index at the front, no loss.
struct Remuxer {
  let input: MediaInput
  let streams: [StreamInfo]
  let progress: ProgressMeter

  /// - Returns: the duration in seconds; nil where the packets turn out to make no sense to the new container, so that
  ///   only decoding can help.
  /// - Throws: `Failure`.
  func run(container: Muxer.Container, path: String) throws(Failure) -> Double? {
    let demuxer = try input.demuxer()
    demuxer.select(streams: streams.map(\.index))
    let duration: Double
    do throws(FFmpegError) { duration = try copy(from: demuxer, container, path) } catch {
      if error.isAboutContent { return nil }
      throw MediaFailure.of(error, input.name)
    }
    if let number = demuxer.readError { throw MediaFailure.unreadable(input.name, number) }
    return duration
  }

  private func copy(
    from demuxer: Demuxer, _ container: Muxer.Container, _ path: String
  ) throws(FFmpegError) -> Double {
    let muxer = try Muxer(path: path, container: container)
    var outputs: [Int: Int] = [:]
    for stream in streams { outputs[stream.index] = try muxer.addStream(copying: demuxer, stream: stream.index) }
    try muxer.start()
    var packet = try Packet()
    var untimed: [Int: [Packet]] = [:]
    while demuxer.readAhead(into: packet) {
      let index = packet.streamIndex
      guard let output = outputs[index] else { continue }
      // Tags lie between the frames of a file that was put together from others, and a cut one at the end.
      if container == .mp3, !packet.isMP3Frame { continue }
      let timeBase = demuxer.timeBase(ofStream: index)
      packet.shift(by: -Rational.microseconds.rescale(demuxer.startTime, to: timeBase))
      if let time = packet.presentation, let duration = demuxer.duration {
        progress.update(timeBase.seconds(time) / duration)
      }
      guard let decoding = packet.decoding else {
        untimed[index, default: []].append(packet)
        packet = try Packet()
        continue
      }
      if let first = untimed.removeValue(forKey: index) {
        Self.setDecodingTimes(of: first, before: decoding)
        for packet in first { try muxer.write(packet, to: output, timeBase: timeBase) }
      }
      try muxer.write(packet, to: output, timeBase: timeBase)
    }
    try muxer.finish()
    return muxer.duration
  }

  /// Backwards from the first known one, a picture's length apart, and never after the picture is shown.
  private static func setDecodingTimes(of packets: [Packet], before decoding: Int64) {
    var next = decoding
    for packet in packets.reversed() {
      next = min(next - max(1, packet.duration), packet.presentation ?? .max)
      packet.decoding = next
    }
  }
}

extension Packet {
  var isMP3Frame: Bool { MP3Frame.size(head(4)) == size }
}

extension Demuxer {
  /// A file that can be read no further ends there: whether too much of it is missing is decided afterwards.
  func readAhead(into packet: Packet) -> Bool { (try? read(into: packet)) ?? false }
}
