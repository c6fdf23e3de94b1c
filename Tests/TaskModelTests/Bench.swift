import JSON
import TaskModel

/// A task under a machine: events in, actions out, with the saved state in between.
struct Bench {
  var task: SendTask
  var policy = RetryPolicy()
  var now: Int64 = 1_000
  var abandoned: [JSONValue] = []

  init(resources count: Int, partial: PartialPolicy = .fail, state: TaskState = .queued) {
    let resources = (0..<count).map { index in
      Resource(
        index: index, role: .image, source: .path("/photos/\(index).jpg"), name: "\(index).jpg",
        sourceMime: "image/jpeg", identity: SourceIdentity(size: 100, modifiedNs: 1, changedNs: 1, inode: 1))
    }
    task = SendTask(
      id: "t", account: "default", kind: .message, lane: "chat", destination: "local", state: state, partial: partial,
      urgency: .normal, resources: resources, createdAt: 0)
  }

  @discardableResult
  mutating func tell(_ events: TaskEvent...) throws -> [TaskAction] {
    var actions: [TaskAction] = []
    for event in events {
      var machine = TaskStateMachine(task, policy: policy, now: now, jitter: 1)
      actions = try machine.handle(event)
      task = machine.task
      abandoned += machine.abandoned
    }
    return actions
  }

  static func file(_ index: Int) -> ExportedFile {
    ExportedFile(file: "x\(index)", mime: "image/jpeg", size: 50, md5: "m\(index)", sha256: "s\(index)")
  }
  static func result(_ index: Int) -> UploadResult {
    UploadResult(url: "https://cdn.example.org/\(index)", uploadProtocol: "put")
  }

  /// Everything up to the lane's turn.
  mutating func uploadEverything() throws {
    try tell(.turnCame)
    for index in task.resources.indices { try tell(.exportFinished(index, Self.file(index))) }
    for index in task.resources.indices { try tell(.uploadFinished(index, Self.result(index))) }
    try tell(.workEnded)
  }
}

let hiccup = Failure(.unavailable, "503", remedy: .retry, httpStatus: 503)
let noNetwork = Failure(.unreachable, "no route", remedy: .retry, isOffline: true)
let damaged = Failure(.damaged, "cut off", remedy: .giveUp)
let answerLost = Failure(.unavailable, "cut", remedy: .retry, outcomeUnknown: true)
