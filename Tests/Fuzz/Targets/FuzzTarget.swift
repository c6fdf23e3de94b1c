import ExportProtocol
import JSON
import JSONRPC
import MediaTypes
import TaskModel
import TaskProtocol

/// Our own readers of bytes that a stranger can choose, one a case. `run` does nothing with right and with wrong input;
/// where a reader breaks its promise, it ends the process, which is what a fuzzer looks for.
///
/// The files of `corpus/<case>/` are the seeds, and whatever once broke a reader stays there.
public enum FuzzTarget: String, CaseIterable, Sendable {
  /// The parser, the writers, and the canonical form.
  case json
  /// Message framing, and what a message is.
  case messages
  /// An order line of the worker's channel.
  case orders
  /// A report line of the worker's channel.
  case reports
  /// Signatures of files.
  case media
  /// The walker over a JPEG's markers, and what passes a picture on without its metadata. Its files are links to those of
  /// MediaExport, whose libraries have no place here.
  case jpeg
  /// What is read of containers beside their libraries: outermost parts, the directory of a TIFF, frames of an MP3, the
  /// parameter sets of H.264. Links, too.
  case containers
  /// A submission, by the shape of its JSON.
  case submissions

  public func run(_ bytes: [UInt8]) {
    switch self {
    case .json: Self.json(bytes)
    case .messages: Self.messages(bytes)
    case .orders:
      Self.roundTrip(bytes) { (reader) throws(JSONShapeError) in
        try ExportOrder(reader)
      } json: {
        $0.json
      }
    case .reports:
      Self.roundTrip(bytes) { (reader) throws(JSONShapeError) in
        try ExportReport(reader)
      } json: {
        $0.json
      }
    case .jpeg: Self.jpeg(bytes)
    case .media: Self.media(bytes)
    case .containers: Self.containers(bytes)
    case .submissions: Self.submissions(bytes)
    }
  }

  private static func json(_ bytes: [UInt8]) {
    guard let value = try? JSONParser.parse(bytes) else { return }
    let written = JSONWriter.bytes(value)
    guard (try? JSONParser.parse(written)) == value else { fatalError("what was written reads as something else") }
    let canonical = CanonicalJSON.bytes(value)
    guard let again = try? JSONParser.parse(canonical) else { fatalError("the canonical form is no JSON") }
    guard CanonicalJSON.bytes(again) == canonical else { fatalError("the canonical form is not final") }
  }

  /// The first byte says how the rest comes in pieces; the messages must not depend on it.
  private static func messages(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let stream = bytes.dropFirst()
    let limit = 512
    var whole = MessageSplitter(limit: limit)
    var expected = whole.feed(stream)
    if let last = whole.finish() { expected.append(last) }
    var cut = MessageSplitter(limit: limit)
    var found: [MessageSplitter.Piece] = []
    var start = stream.startIndex
    var step = 1 + Int(first)
    while start < stream.endIndex {
      let end = min(start + step, stream.endIndex)
      found += cut.feed(stream[start..<end])
      start = end
      step = 1 + step * 7 % 61
    }
    if let last = cut.finish() { found.append(last) }
    guard found == expected else { fatalError("pieces of another size make other messages") }
    for case .message(let bytes) in found {
      guard bytes.count <= limit else { fatalError("a message is over the limit") }
      guard let value = try? JSONParser.parse(bytes) else { continue }
      let message = Message(value)
      if case .invalid = message { continue }
      // A foreign error may say more than we keep; what was kept must stay.
      guard Message(message.json) == message else { fatalError("a message reads back as another one") }
    }
  }

  private static func roundTrip<T: Hashable>(
    _ bytes: [UInt8], read: (JSONReader) throws(JSONShapeError) -> T, json: (T) -> JSONValue
  ) {
    guard let value = try? JSONParser.parse(bytes), let read1 = try? read(JSONReader(value)) else { return }
    let line = JSONWriter.bytes(json(read1))
    guard !line.contains(UInt8(ascii: "\n")) else { fatalError("a line of the channel is two") }
    guard let again = try? JSONParser.parse(line), let read2 = try? read(JSONReader(again)), read2 == read1 else {
      fatalError("what was sent is not what arrives")
    }
  }

  private static func media(_ bytes: [UInt8]) {
    let type = MediaType.of(bytes)
    // Nobody looks further than this.
    guard MediaType.of(Array(bytes.prefix(MediaType.sniffLength))) == type else { fatalError("it looked too far") }
    guard type.mime.contains("/") else { fatalError("a type without a name") }
  }

  private static func containers(_ bytes: [UInt8]) {
    let read = { (offset: Int64, count: Int) -> [UInt8] in
      guard offset >= 0, offset < bytes.count, count >= 0 else { return [] }
      return Array(bytes[Int(offset)...].prefix(count))
    }
    _ = OuterParts.areCutOff(size: Int64(bytes.count), neededShare: 0.9, read: read)
    _ = RawPhoto.isOne(read: read)
    guard MP3Frame.size(bytes).map({ (1...4096).contains($0) }) ?? true else { fatalError("no frame has this size") }
    guard let sets = ParameterSets(header: bytes) else { return }
    bytes.withUnsafeBytes { packet in
      for start in [0, packet.count / 2] { _ = sets.areChanged(by: .init(rebasing: packet[start...])) }
    }
  }

  private static func jpeg(_ bytes: [UInt8]) {
    guard let clean = try? JPEGCleaner.clean(bytes) else { return }
    guard clean.count <= bytes.count else { fatalError("the cleaned picture is larger") }
    guard (try? JPEGCleaner.clean(clean)) == clean else { fatalError("a clean picture is not clean") }
    guard let segments = try? JPEGSegments(clean), segments.end == clean.count else {
      fatalError("something lies behind the picture")
    }
  }

  private static func submissions(_ bytes: [UInt8]) {
    guard let value = try? JSONParser.parse(bytes), var fields = try? JSONReader(value).object() else { return }
    _ = try? SubmitTask(&fields)
  }
}
