import TaskModel
import Testing

@Suite("Names that go up")
struct FileNameTests {
  @Test(
    "a name is the last component and nothing of the way to it",
    arguments: [
      ("/home/me/a.jpg", "a.jpg"), ("/home/me/\u{301}a.jpg", "\u{301}a.jpg"), ("/a\nb", "a_b"), ("/", "file"),
      ("/x/..", "file"), ("/x/b\\c", "b_c"), ("/x/", "x"),
    ])
  func last(_ path: String, _ name: String) {
    #expect(FileName.safe(path).unicodeScalars.elementsEqual(name.unicodeScalars))
  }

  @Test("a long name is cut between letters")
  func long() { #expect(FileName.safe("/" + String(repeating: "é", count: 150)).utf8.count == 200) }
}
