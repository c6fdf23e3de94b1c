import JSON
import TaskModel

/// A task with one resource that is up and one that failed.
func sampleTask(id: String = "task-1") -> SendTask {
  let identity = SourceIdentity(size: 1, modifiedNs: 0, changedNs: 0, inode: 0)
  var up = Resource(
    index: 0, role: .video, source: .path("/secret/v.mov"), name: "v.mp4", sourceMime: "video/mp4", identity: identity)
  up.export = ExportedFile(file: "export-name", mime: "video/mp4", size: 5, md5: "aa", sha256: "bb")
  up.url = "https://cdn/v"
  up.receipt = Receipt(
    url: "https://cdn/v", mime: "video/mp4", size: 5, md5: "aa", sha256: "bb", name: "v.mp4", width: 4, height: 3,
    durationMs: 900)
  var down = Resource(
    index: 1, role: .image, source: .path("/secret/i.png"), name: "i.png", sourceMime: "image/png", identity: identity)
  down.failure = Failure(.damaged, "the image is damaged", remedy: .giveUp)
  var task = SendTask(
    id: id, account: "me & you", kind: .message, lane: "chat", destination: "d", state: .delivering, urgency: .normal,
    payload: ["text": "hi"], resources: [up, down], createdAt: 0)
  task.attempt = 3
  return task
}
