import Synchronization
public import TaskModel

/// How far running work is: what no transaction is worth, kept in memory until the next transition takes it over.
final class ProgressBoard: Sendable {
  private struct Entry {
    var task: SendTask
    var running: [Int: Progress.Running] = [:]
    /// Of an upload: bytes that went out.
    var bytes: [Int: Int64] = [:]
    var floor: Double
    var isDirty = false
  }

  private let entries = Mutex<[SendTask.ID: Entry]>([:])
  private let onDirty: @Sendable () -> Void

  /// - Parameter onDirty: something is worth telling; called from any thread, often.
  init(onDirty: @escaping @Sendable () -> Void) { self.onDirty = onDirty }

  /// What was last told of this task; 0 where nothing was.
  func floor(of id: SendTask.ID) -> Double { entries.withLock { $0[id]?.floor ?? 0 } }

  /// Takes over a committed state. Finished tasks are forgotten.
  func update(_ task: SendTask, isDeletion: Bool) {
    entries.withLock { entries in
      guard task.state.isRunning, !isDeletion else {
        entries[task.id] = nil
        return
      }
      var entry = entries[task.id] ?? Entry(task: task, floor: task.progress)
      entry.task = task
      entry.floor = max(entry.floor, task.progress)
      // A step that begins anew is at its start again; `floor` keeps the whole from falling.
      for resource in task.resources where resource.state != .exporting && resource.state != .uploading {
        entry.running[resource.index] = nil
        entry.bytes[resource.index] = nil
      }
      entries[task.id] = entry
    }
  }

  func exported(_ fraction: Double, resource: Int, of id: SendTask.ID) {
    note(id) { $0.running[resource, default: Progress.Running()].exported = fraction }
  }

  func uploaded(_ bytes: Int64, of size: Int64, resource: Int, of id: SendTask.ID) {
    note(id) { entry in
      entry.bytes[resource] = min(max(bytes, entry.bytes[resource] ?? 0), size)
      let fraction = size > 0 ? Double(entry.bytes[resource] ?? 0) / Double(size) : 0
      entry.running[resource, default: Progress.Running()].uploaded = fraction
    }
  }

  private func note(_ id: SendTask.ID, _ change: (inout Entry) -> Void) {
    let isNews = entries.withLock { entries in
      guard var entry = entries[id] else { return false }
      let wasDirty = entry.isDirty
      change(&entry)
      entry.isDirty = true
      entries[id] = entry
      return !wasDirty
    }
    if isNews { onDirty() }
  }

  /// What has changed since the last call, and raises the floors to it.
  func takeReports() -> [ProgressReport] {
    entries.withLock { entries in
      var reports: [ProgressReport] = []
      for (id, entry) in entries where entry.isDirty {
        let report = ProgressReport(entry.task, running: entry.running, bytes: entry.bytes, floor: entry.floor)
        entries[id]?.floor = report.progress
        entries[id]?.isDirty = false
        reports.append(report)
      }
      return reports
    }
  }
}

/// One `task/progress`.
public struct ProgressReport: Sendable {
  public let task: SendTask
  /// 0 to 1.
  public internal(set) var progress: Double
  /// Of the current phase: source bytes exported, or export bytes uploaded.
  public let bytesDone: Int64
  public let bytesTotal: Int64
  public let resources: [(index: Int, state: ResourceState, progress: Double)]

  init(_ task: SendTask, running: [Int: Progress.Running], bytes: [Int: Int64], floor: Double) {
    self.task = task
    progress = max(floor, Progress.of(task, running: running))
    resources = task.resources.map {
      ($0.index, $0.state, Progress.fraction(of: $0, running: running[$0.index]))
    }
    var done: Int64 = 0
    var total: Int64 = 0
    for resource in task.resources {
      if task.state == .exporting {
        let size = resource.identity?.size ?? 0
        let fraction = resource.export != nil || resource.isDone ? 1 : running[resource.index]?.exported ?? 0
        total += size
        done += Int64(Double(size) * min(1, max(0, fraction)))
      } else {
        let size = resource.export?.size ?? 0
        total += size
        done += resource.isDone ? size : min(size, bytes[resource.index] ?? 0)
      }
    }
    bytesDone = done
    bytesTotal = total
  }
}
