import Dispatch
import ExportProtocol
import Glibc
import TaskModel
import Testing

@Suite("The channel between engine and worker")
struct ChannelTests {
  private static func connected() throws -> (engine: ExportChannel, worker: ExportChannel) {
    let pair = try ExportChannel.pair()
    return (pair.ours, ExportChannel(descriptor: pair.theirs))
  }

  /// A descriptor of an unnamed file with this text.
  private static func file(_ text: String) throws -> Int32 {
    var name = Array("/tmp/taskcenter-XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    try #require(descriptor >= 0)
    unlink(name)
    let bytes = Array(text.utf8)
    #expect(write(descriptor, bytes, bytes.count) == bytes.count)
    return descriptor
  }

  private static func text(_ descriptor: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = pread(descriptor, &buffer, buffer.count, 0)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }

  private static func order(_ id: Int64, _ job: ExportJob = .audio) -> ExportOrder {
    ExportOrder(id: id, job: job, name: "n\(id)", output: "/o")
  }

  @Test("Each order finds its own file, also when several lie in the socket at once")
  func descriptorsStayWithTheirOrders() throws {
    let (engine, worker) = try Self.connected()
    for id in 1...3 {
      let file = try Self.file("content \(id)")
      try engine.send(Self.order(Int64(id)), input: file)
      close(file)
      try engine.send(Self.order(Int64(id) + 100, .archive([])), input: nil)
    }
    for id in 1...3 {
      let received = try #require(try worker.receiveOrder())
      let input = try #require(received.input)
      #expect(received.order.id == Int64(id))
      #expect(Self.text(input) == "content \(id)")
      // It must not leak into programs that the worker starts.
      #expect(fcntl(input, F_GETFD) & FD_CLOEXEC != 0)
      close(input)
      let other = try #require(try worker.receiveOrder())
      #expect(other.order.id == Int64(id) + 100)
      #expect(other.input == nil)
    }
  }

  @Test("An order with the wrong number of inputs is refused before it is sent")
  func inputMustMatch() throws {
    let (engine, _) = try Self.connected()
    #expect(throws: ExportChannelError.self) { try engine.send(Self.order(1), input: nil) }
    #expect(throws: ExportChannelError.self) { try engine.send(Self.order(1, .archive([])), input: 0) }
  }

  @Test("An order far larger than the socket's buffer arrives whole")
  func longOrder() throws {
    let (engine, worker) = try Self.connected()
    let entries = (0..<50_000).map { ArchiveEntry(path: "/var/log/\($0).log", name: "\($0).log") }
    let order = Self.order(7, .archive(entries))
    DispatchQueue.global().async { try? engine.send(order, input: nil) }
    #expect(try worker.receiveOrder()?.order == order)
  }

  @Test("Reports arrive in order, and the end of the worker is the end of the stream")
  func reports() throws {
    var (engine, worker): (ExportChannel, ExportChannel?) = try Self.connected()
    let failure = Failure(.damaged, "“x” is damaged", remedy: .needsUser)
    try worker?.send(.progress(id: 1, fraction: 0.25))
    try worker?.send(.failed(id: 1, failure))
    worker = nil
    #expect(try engine.receiveReport() == .progress(id: 1, fraction: 0.25))
    #expect(try engine.receiveReport() == .failed(id: 1, failure))
    #expect(try engine.receiveReport() == nil)
    engine.waitForHangUp()
  }

  @Test("A line that breaks off, or is no report, is an error and no end")
  func brokenLines() throws {
    for text in ["{\"id\":1", "hello\n", "{}\n"] {
      let pair = try ExportChannel.pair()
      _ = send(pair.theirs, text, text.utf8.count, 0)
      close(pair.theirs)
      #expect(throws: ExportChannelError.self) { try pair.ours.receiveReport() }
    }
  }

  @Test("Writing to a worker that has gone is an error of the call")
  func deadWorker() throws {
    let pair = try ExportChannel.pair()
    close(pair.theirs)
    #expect(throws: ExportChannelError.self) { try pair.ours.send(Self.order(1, .archive([])), input: nil) }
  }

  @Test("Shutting down wakes whoever waits")
  func shutDown() throws {
    let (engine, worker) = try Self.connected()
    DispatchQueue.global().async { engine.shutDown() }
    #expect(try engine.receiveReport() == nil)
    #expect(try worker.receiveOrder() == nil)
  }
}
