import Glibc
import JSON
import Synchronization

/// Why a channel is of no more use.
public struct ExportChannelError: Error, Sendable, Hashable, CustomStringConvertible {
  public let message: String
  public init(_ message: String) { self.message = message }
  public var description: String { message }
}

/// One end of the connection between the engine and a worker: JSON lines over a Unix stream socket, with open descriptors
/// beside them (SCM_RIGHTS, unix(7)).
///
/// Everything here blocks: use a thread of its own, or a dispatch queue, never the cooperative pool. One thread may send
/// while another receives. `shutDown` ends both at once, from any thread.
///
/// A stream socket does not say which byte of the stream a descriptor came with, only that it came no later; so
/// descriptors queue up, and an order takes the next one where its job says that there is one.
public final class ExportChannel: Sendable {
  private let descriptor: Int32
  private let sending = Mutex(())
  private let receiving = Mutex(Received())

  private struct Received {
    var bytes: [UInt8] = []
    /// Bytes that are known to hold no line end.
    var searched = 0
    var descriptors: [Int32] = []
  }

  /// A log order names every file; nothing else comes near this.
  private static let longestLine = 32 << 20

  /// - Parameter descriptor: of a connected Unix stream socket; closed when the channel goes.
  public init(descriptor: Int32) { self.descriptor = descriptor }

  deinit {
    receiving.withLock { $0.descriptors.forEach { _ = close($0) } }
    close(descriptor)
  }

  /// Both ends of a new connection, closed on exec.
  /// - Returns: ours, and the raw descriptor for the worker to be started, which the caller closes.
  public static func pair() throws(ExportChannelError) -> (ours: ExportChannel, theirs: Int32) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw system("socketpair", errno) }
    return (ExportChannel(descriptor: ends[0]), ends[1])
  }

  /// Ends the connection: the other end, and whoever waits here, sees its end.
  public func shutDown() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Waits until the other end has gone, whatever it still has to say.
  public func waitForHangUp() {
    var poll = pollfd(fd: descriptor, events: 0, revents: 0)
    while true {
      let result = Glibc.poll(&poll, 1, -1)
      if result > 0 || (result < 0 && errno != EINTR) { return }
    }
  }

  /// Whether the other end has gone.
  public var hasHungUp: Bool {
    var poll = pollfd(fd: descriptor, events: 0, revents: 0)
    return Glibc.poll(&poll, 1, 0) > 0
  }

  // MARK: What the engine does

  /// - Parameter input: sent along where the job takes one; stays the caller's.
  public func send(_ order: ExportOrder, input: Int32?) throws(ExportChannelError) {
    guard order.job.takesInput == (input != nil) else {
      throw ExportChannelError("the order and its input do not match")
    }
    try send(order.json, descriptor: input)
  }

  /// - Returns: nil when the worker has gone.
  public func receiveReport() throws(ExportChannelError) -> ExportReport? {
    guard let value = try receiveLine() else { return nil }
    do { return try ExportReport(JSONReader(value)) } catch {
      throw ExportChannelError("a report makes no sense: \(error)")
    }
  }

  // MARK: What the worker does

  public func send(_ report: ExportReport) throws(ExportChannelError) { try send(report.json, descriptor: nil) }

  /// - Returns: the order and its input, which is now the caller's to close; nil when the engine has gone.
  public func receiveOrder() throws(ExportChannelError) -> (order: ExportOrder, input: Int32?)? {
    guard let value = try receiveLine() else { return nil }
    let order: ExportOrder
    do { order = try ExportOrder(JSONReader(value)) } catch {
      throw ExportChannelError("an order makes no sense: \(error)")
    }
    guard order.job.takesInput else { return (order, nil) }
    let input = receiving.withLock { $0.descriptors.isEmpty ? nil : $0.descriptors.removeFirst() }
    guard let input else { throw ExportChannelError("an order came without its input") }
    return (order, input)
  }

  // MARK: Lines

  private func send(_ value: JSONValue, descriptor passed: Int32?) throws(ExportChannelError) {
    var line = JSONWriter.bytes(value)
    line.append(UInt8(ascii: "\n"))
    let result = sending.withLock { _ in
      line.withUnsafeMutableBytes { bytes in
        Result { () throws(ExportChannelError) in try Self.sendAll(bytes, with: passed, to: descriptor) }
      }
    }
    try result.get()
  }

  private func receiveLine() throws(ExportChannelError) -> JSONValue? {
    let line = try receiving.withLock { received in
      Result { () throws(ExportChannelError) in try Self.nextLine(of: &received, from: descriptor) }
    }.get()
    guard let line else { return nil }
    do { return try JSONParser.parse(line) } catch { throw ExportChannelError("a line is no JSON: \(error)") }
  }

  private static func nextLine(
    of received: inout Received, from socket: Int32
  ) throws(ExportChannelError) -> [UInt8]? {
    while true {
      if let end = received.bytes[received.searched...].firstIndex(of: UInt8(ascii: "\n")) {
        let line = Array(received.bytes[..<end])
        received.bytes.removeSubrange(...end)
        received.searched = 0
        return line
      }
      received.searched = received.bytes.count
      guard received.searched < longestLine else { throw ExportChannelError("a line is too long") }
      guard try receiveSome(into: &received.bytes, &received.descriptors, from: socket) else {
        guard received.bytes.isEmpty else { throw ExportChannelError("the connection ended within a line") }
        return nil
      }
    }
  }

  static func system(_ call: String, _ number: Int32) -> ExportChannelError {
    ExportChannelError("\(call): \(String(cString: strerror(number)))")
  }
}
