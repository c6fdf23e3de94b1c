import TaskModel
import Testing

@Suite("Sources in the store, in the state machine")
struct StoredSourceTests {
  private func bench(_ source: Source) -> Bench {
    var bench = Bench(resources: 1)
    bench.task.resources[0].source = source
    return bench
  }

  private let found = SourceRefresh(
    source: .url("https://h/a?t", file: "f"), identity: SourceIdentity(size: 7, modifiedNs: 1, changedNs: 1, inode: 1),
    mime: "image/gif")

  @Test("what was fetched is the source from then on")
  func fetched() throws {
    var bench = bench(.url("https://h/a?t", file: nil))
    #expect(try bench.tell(.turnCame, .exportStarted(0), .sourceFetched(0, found)) == [])
    #expect(bench.task.resources[0].source.file == "f")
    #expect(bench.task.resources[0].identity?.size == 7)
    #expect(bench.task.resources[0].sourceMime == "image/gif")
  }

  @Test("what comes after a cancel is removed")
  func late() throws {
    var bench = bench(.url("https://h/a?t", file: nil))
    try bench.tell(.turnCame, .exportStarted(0), .cancel)
    #expect(try bench.tell(.sourceFetched(0, found)) == [.removeSource("f")])
  }

  @Test("a copy goes when the task is sent or taken back, and stays while it can be resent")
  func removed() throws {
    var sent = bench(.kept(path: "/a", file: "f"))
    try sent.uploadEverything()
    try sent.tell(.deliveryStarted)
    #expect(try sent.tell(.delivered(remoteId: nil)).contains(.removeSource("f")))
    #expect(sent.task.resources[0].source == .kept(path: "/a", file: nil))
    var failed = bench(.kept(path: "/a", file: "f"))
    #expect(try !failed.tell(.turnCame, .stepFailed(0, damaged)).contains(.removeSource("f")))
    #expect(try !failed.tell(.retry([:])).contains(.removeSource("f")))
    #expect(failed.task.resources[0].source.file == "f")
    #expect(try failed.tell(.cancel).contains(.removeSource("f")))
  }

  @Test("a user's retry fetches again what is not exported, and keeps what is")
  func retried() throws {
    var bench = bench(.url("https://h/a?t", file: "f"))
    try bench.tell(.turnCame, .stepFailed(0, damaged))
    #expect(try bench.tell(.retry([:])) == [.removeSource("f")])
    #expect(bench.task.resources[0].source.file == nil)
    #expect(bench.task.resources[0].identity == nil)
    bench = self.bench(.url("https://h/a?t", file: "f"))
    try bench.tell(.turnCame, .exportFinished(0, Bench.file(0)), .stepFailed(0, damaged))
    #expect(try bench.tell(.retry([:])) == [])
    #expect(bench.task.resources[0].source.file == "f")
  }

  @Test(
    "front ends see neither a URL's query nor the store's own names, and the same key with another query is another submit"
  )
  func hidden() {
    #expect(Source.url("https://h/a?token=1#x", file: "f").json == ["url": "https://h/a"])
    #expect(Source.kept(path: "/a", file: "f").json == ["path": "/a", "keep": true])
    func content(_ url: String) -> String {
      Submission(kind: .avatar, resources: [ResourceDraft(source: .url(url, file: nil))]).content
    }
    #expect(content("https://h/a?x=1") != content("https://h/a?x=2"))
  }
}
