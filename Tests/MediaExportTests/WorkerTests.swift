import ExportProtocol
import Foundation
import Platform
import TaskModel
import TaskTestSupport
import Testing

/// A worker as the engine starts it: its end of the channel is descriptor 0.
private final class RunningWorker {
  let channel: ExportChannel
  let process: pid_t

  /// - Parameter folder: where it may write.
  init(_ folder: Folder, _ arguments: String...) throws {
    let (ours, theirs) = try ExportChannel.pair()
    channel = ours
    defer { close(theirs) }
    let worker = try Programs.path("taskcenter-export")
    process = try ChildProcess.spawn(worker, [worker, "--folder", folder.path] + arguments, descriptorZero: theirs)
  }

  /// Sends an order with its file and waits for the final report.
  func run(_ order: ExportOrder, input path: String?) throws -> (final: ExportReport?, progress: [Double]) {
    let input = path.map { open($0, O_RDONLY | O_CLOEXEC) }
    try channel.send(order, input: input)
    if let input { close(input) }
    var progress: [Double] = []
    while let report = try channel.receiveReport() {
      #expect(report.id == order.id)
      guard case .progress(_, let fraction) = report else { return (report, progress) }
      progress.append(fraction)
    }
    return (nil, progress)
  }

  /// - Returns: the exit status, or the negative signal.
  func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : -signal
  }
}

@Suite("The worker as a process", .serialized)
struct WorkerTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  private func order(_ id: Int64, _ job: ExportJob, name: String = "file") -> ExportOrder {
    ExportOrder(id: id, job: job, name: name, output: folder.file("\(id).part"))
  }

  @Test("One worker serves many orders, also after one that failed, and ends with its engine")
  func manyOrders() throws {
    let worker = try RunningWorker(folder, "--memory-limit", "2147483648")
    let text = try folder.write("text.jpg", Data("hello".utf8))
    let failed = try worker.run(order(1, .image(ImageJob(longEdge: 100)), name: "text.jpg"), input: text)
    guard case .failed(1, let failure) = failed.final else {
      Issue.record("\(String(describing: failed.final))")
      return
    }
    #expect(failure.code == .unsupported)
    let image = try worker.run(order(2, .image(ImageJob(longEdge: 100))), input: Corpus.file("b03"))
    guard case .done(2, let result) = image.final else {
      Issue.record("\(String(describing: image.final))")
      return
    }
    #expect([result.width, result.height] == [100, 67])
    let video = try worker.run(
      order(3, .video(VideoJob(.box(VideoBox(longSide: 960, shortSide: 540, remux: .never))))),
      input: Corpus.file("v01"))
    guard case .done(3, _) = video.final else {
      Issue.record("\(String(describing: video.final))")
      return
    }
    #expect(!video.progress.isEmpty && video.progress == video.progress.sorted())
    let facts = try worker.run(order(5, .probe), input: Corpus.file("v02"))
    #expect(
      facts.final
        == .probed(
          id: 5, MediaFacts(kind: .video, mime: "video/quicktime", width: 720, height: 1280, durationMs: 1000)))
    #expect(folder.names == ["2.part", "3.part", "text.jpg"])
    worker.channel.shutDown()
    #expect(worker.wait() == 0)
  }

  @Test("A file that asks for too much memory is refused, and the worker lives on")
  func memory() throws {
    let worker = try RunningWorker(folder, "--memory-limit", "1073741824")
    let source = try Corpus.file("b11")
    let report = try worker.run(
      order(1, .video(VideoJob(.box(VideoBox(longSide: 960, shortSide: 540, remux: .never))))), input: source)
    guard case .failed(1, _) = report.final else {
      Issue.record("\(String(describing: report.final))")
      return
    }
    let facts = try worker.run(order(2, .probe), input: Corpus.file("b03"))
    #expect(facts.final == .probed(id: 2, MediaFacts(kind: .image, mime: "image/png", width: 600, height: 400)))
    worker.channel.shutDown()
    #expect(worker.wait() == 0)
  }

  @Test("An order that takes more processor time than it may ends the worker")
  func processorTime() throws {
    let worker = try RunningWorker(folder, "--cpu-limit", "1")
    let source = folder.file("long.mkv")
    try ffmpeg("-f", "lavfi", "-i", "testsrc2=s=1280x720:r=30:d=40", "-c:v", "mpeg4", "-q:v", "5", source)
    let box = VideoBox(longSide: 1280, shortSide: 720, remux: .never)
    #expect(try worker.run(order(1, .video(VideoJob(.box(box)))), input: source).final == nil)
    #expect(worker.wait() == -SIGXCPU)
  }

  @Test("What earlier orders took does not count, so a worker may stay warm for ever")
  func processorTimeOfMany() throws {
    let worker = try RunningWorker(folder, "--cpu-limit", "1")
    let source = folder.file("photo.png")
    try ffmpeg("-f", "lavfi", "-i", "testsrc2=s=3000x2000,noise=alls=60", "-frames:v", "1", source)
    func spent() throws -> Double {
      let text = try String(contentsOfFile: "/proc/\(worker.process)/stat", encoding: .utf8)
      let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
      return fields[11...12].reduce(0) { $0 + (Double($1) ?? 0) } / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
    var number: Int64 = 0
    // Longer than one order could, with all that is rounded.
    while try spent() < 5 {
      number += 1
      let report = try worker.run(order(number, .image(ImageJob(longEdge: 2000))), input: source).final
      try #require(report?.isDone == true)
    }
    worker.channel.shutDown()
    #expect(worker.wait() == 0)
  }

  @Test("A worker of media takes no archive, and one of archives nothing else")
  func kinds() throws {
    let text = try folder.write("text.log", Data("hello".utf8))
    let archive = order(1, .archive([ArchiveEntry(path: text, name: "text.log")]))
    let media = try RunningWorker(folder)
    #expect(try media.run(archive, input: nil).final?.isDone == false)
    let archives = try RunningWorker(folder, "--archives")
    #expect(try archives.run(archive, input: nil).final?.isDone == true)
    #expect(try archives.run(order(2, .audio), input: text).final?.isDone == false)
    #expect(folder.names == ["1.part", "text.log"])
    for worker in [media, archives] {
      worker.channel.shutDown()
      #expect(worker.wait() == 0)
    }
  }

  @Test("An output that is not directly in the folder of exports is refused")
  func outside() throws {
    let worker = try RunningWorker(folder)
    try FileManager.default.createDirectory(atPath: folder.file("sub"), withIntermediateDirectories: true)
    let picture = try Corpus.file("b03")
    for output in [NSTemporaryDirectory() + "x", folder.file("sub/x"), folder.file("../x"), folder.path + "x", "x"] {
      let order = ExportOrder(id: 1, job: .image(ImageJob(longEdge: 100)), name: "p", output: output)
      #expect(try worker.run(order, input: picture).final?.isDone == false, "\(output)")
    }
    #expect(folder.names == ["sub"])
    worker.channel.shutDown()
    #expect(worker.wait() == 0)
  }

  @Test("A worker at work has its filter, no new privileges and few descriptors")
  func confined() throws {
    let worker = try RunningWorker(folder, "--debug")
    _ = try worker.run(order(1, .probe), input: Corpus.file("b03"))
    let tasks = "/proc/\(worker.process)/task"
    let threads = try FileManager.default.contentsOfDirectory(atPath: tasks)
    #expect(threads.count > 1)
    for thread in threads {
      let status = try String(contentsOfFile: "\(tasks)/\(thread)/status", encoding: .utf8)
      #expect(status.contains("Seccomp:\t2") && status.contains("NoNewPrivs:\t1"))
    }
    let limits = try String(contentsOfFile: "/proc/\(worker.process)/limits", encoding: .utf8)
    #expect(limits.split(separator: "\n").contains { $0.hasPrefix("Max open files") && $0.contains(" 64 ") })
    worker.channel.shutDown()
    #expect(worker.wait() == 0)
  }

  @Test("A worker whose engine dies in the middle of an order ends at once")
  func hangUp() throws {
    let worker = try RunningWorker(folder)
    let source = folder.file("long.mp4")
    try ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=s=1280x720:r=30:d=60", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt",
      "yuv420p", source)
    let input = open(source, O_RDONLY | O_CLOEXEC)
    try worker.channel.send(
      order(1, .video(VideoJob(.box(VideoBox(longSide: 1280, shortSide: 720, remux: .never))))), input: input)
    close(input)
    // The first progress says that it is at work.
    _ = try worker.channel.receiveReport()
    worker.channel.shutDown()
    #expect(worker.wait() == 0)
    // What it had written so far lies there for the engine to clear; it is nothing like the whole.
    #expect(try MediaFileSize.of(folder.file("1.part")) < MediaFileSize.of(source))
  }

  @Test("A killed worker is the end of the stream, and no hang")
  func killed() throws {
    let worker = try RunningWorker(folder)
    kill(worker.process, SIGKILL)
    #expect(worker.wait() == -SIGKILL)
    #expect(try worker.channel.receiveReport() == nil)
  }

  @Test("A line that is no order ends the worker with a word on stderr, not with a crash")
  func nonsense() throws {
    let worker = try RunningWorker(folder)
    let order = ExportOrder(id: 1, job: .image(ImageJob(longEdge: 0)), name: "x", output: "/x")
    try worker.channel.send(order, input: 2)
    #expect(try worker.channel.receiveReport() == nil)
    #expect(worker.wait() == 70)
  }
}

extension ExportReport {
  fileprivate var isDone: Bool { if case .done = self { true } else { false } }
}

private enum MediaFileSize {
  static func of(_ path: String) throws -> Int64 {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64)
  }
}
