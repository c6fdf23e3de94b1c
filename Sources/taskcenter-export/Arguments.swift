import ExportProtocol

/// What the command line says.
struct Arguments {
  enum Mode {
    /// Orders from the channel.
    case worker
    /// One order from the command line: inputs by path, and the output.
    case one(ExportJob, inputs: [String], output: String, plansOnly: Bool)
  }

  var mode = Mode.worker
  /// Bytes.
  var memoryLimit: UInt64?
  /// Seconds, of one order.
  var processorTime: UInt64?
  /// Of a worker: the one folder to write in.
  var folder = ""
  /// Of a worker: it serves archives only, and so may read files by their paths.
  var servesArchives = false
  /// Of a worker: say on stderr what this machine's sandbox lacks.
  var tellsLacks = false

  static let usage = """
    usage: taskcenter-export --folder DIR [--memory-limit BYTES] [--cpu-limit SECONDS] [--archives] [--debug]
             (serves orders of the engine, on the socket that is descriptor 0)
           taskcenter-export --one image [--long-edge N] [--quality Q] [--square]
             [--format jpeg|heic] INPUT OUTPUT
           taskcenter-export --one video [--box WxH] [--max-rate BITS] [--remux never|ifClean] INPUT OUTPUT
           taskcenter-export --one video --limit BYTES [--hard-limit BYTES] INPUT OUTPUT
           taskcenter-export --one poster|thumbnail [--edge N] INPUT OUTPUT
           taskcenter-export --one audio INPUT OUTPUT
           taskcenter-export --one archive INPUT... OUTPUT
           taskcenter-export --one probe INPUT
             (with --plan, and without OUTPUT: only say what would be done)
    """

  struct Problem: Error { var message: String }

  init(_ words: [String]) throws(Problem) {
    var job: String?
    var image = ImageJob(longEdge: 2048)
    var edge: Int?
    var box = (960, 540)
    var maximumRate: Int64?
    var limit: Int64?
    var hardLimit: Int64?
    var remux = VideoBox.Remux.never
    var plansOnly = false
    var paths: [String] = []
    var rest = words[...]
    func value<T>(_ option: String, _ convert: (String) -> T?) throws(Problem) -> T {
      guard let word = rest.popFirst() else { throw Problem(message: "\(option) needs a value") }
      guard let value = convert(word) else { throw Problem(message: "\(option): “\(word)” makes no sense") }
      return value
    }
    while let word = rest.popFirst() {
      switch word {
      case "--memory-limit": memoryLimit = try value(word) { UInt64($0) }
      case "--cpu-limit": processorTime = try value(word) { UInt64($0) }
      case "--folder": folder = try value(word) { $0.hasPrefix("/") ? $0 : nil }
      case "--archives": servesArchives = true
      case "--debug": tellsLacks = true
      case "--one": job = try value(word) { $0 }
      case "--long-edge": image.longEdge = try value(word) { Int($0).flatMap { (1...65535).contains($0) ? $0 : nil } }
      case "--quality": image.quality = try value(word) { Int($0).flatMap { (1...100).contains($0) ? $0 : nil } }
      case "--format": image.format = try value(word) { ImageJob.Format(rawValue: $0) }
      case "--edge": edge = try value(word) { Int($0).flatMap { (16...4096).contains($0) ? $0 : nil } }
      case "--square": image.cropSquare = true
      case "--box": box = try value(word, Self.box)
      case "--max-rate": maximumRate = try value(word) { Int64($0).flatMap { $0 > 0 ? $0 : nil } }
      case "--limit": limit = try value(word) { Int64($0).flatMap { $0 > 0 ? $0 : nil } }
      case "--hard-limit": hardLimit = try value(word) { Int64($0).flatMap { $0 > 0 ? $0 : nil } }
      case "--remux": remux = try value(word) { VideoBox.Remux(rawValue: $0) }
      case "--plan": plansOnly = true
      case "--":
        paths += rest
        rest = []
      default:
        guard !word.hasPrefix("--") else { throw Problem(message: "unknown option \(word)") }
        paths.append(word)
      }
    }
    guard let job else {
      guard paths.isEmpty else { throw Problem(message: "“\(paths[0])” is too much") }
      guard !folder.isEmpty else { throw Problem(message: "--folder is missing") }
      return
    }
    let output = job == "probe" || plansOnly ? "" : paths.popLast() ?? ""
    let goal = VideoJob.Goal.box(
      VideoBox(
        longSide: max(box.0, box.1), shortSide: min(box.0, box.1), maximumRate: maximumRate, remux: remux))
    let video = VideoJob(limit.map { .ladder(limit: $0, hardLimit: max($0, hardLimit ?? $0)) } ?? goal)
    let jobs: [String: ExportJob] = [
      "image": .image(image), "video": .video(video), "audio": .audio, "archive": .archive([]), "probe": .probe,
      "poster": .poster(PosterJob(longEdge: edge ?? PosterJob().longEdge)),
      "thumbnail": .thumbnail(ThumbnailJob(edge: edge ?? ThumbnailJob().edge)),
    ]
    guard let chosen = jobs[job] else { throw Problem(message: "--one: “\(job)” makes no sense") }
    guard chosen.takesInput ? paths.count == 1 : !paths.isEmpty else {
      throw Problem(message: "the wrong number of files")
    }
    mode = .one(chosen, inputs: paths, output: output, plansOnly: plansOnly)
  }

  private static func box(_ text: String) -> (Int, Int)? {
    let parts = text.split(separator: "x").compactMap { Int($0) }
    guard parts.count == 2, parts.allSatisfy({ (2...8192).contains($0) }) else { return nil }
    return (parts[0], parts[1])
  }
}
