import JSON
import MediaTypes
import SourceFiles
import Testing

@testable import taskcenter

@Suite("What a plan looks like")
struct PlanTests {
  private let plans: [JSONValue] = [
    [
      "index": 0, "action": "encode", "rung": "1280x720", "width": 1280, "height": 720, "estimatedBytes": 1_250_000,
      "reason": "Encoded, as it is HDR.",
    ],
    ["index": 1, "action": "zip", "rung": "zip", "reason": "Packed."],
  ]

  @Test("one row for each file, with a dash for what is not known")
  func table() {
    #expect(
      Plan.table(plans, names: ["a.mov", "logs"]) == """
        FILE   ACTION  PIXELS    SIZE      WHY
        a.mov  encode  1280×720  ~ 1.2 MB  Encoded, as it is HDR.
        logs   zip     –         –         Packed.
        """)
  }

  @Test("nothing of a file's name or of a reason steers the terminal")
  func plainText() {
    let evil: [JSONValue] = [["index": 0, "action": "pass", "reason": "\u{1B}[31mred"]]
    let table = Plan.table(evil, names: ["\u{1B}]0;title\u{7}"])
    #expect(!table.contains("\u{1B}") && !table.contains("\u{7}"))
  }

  @Test(
    "a file is meant for what its bytes are",
    arguments: [("video/mp4", .video, "chat"), ("image/png", .image, "feed"), ("audio/mpeg", .audio, "feed")]
      + [("application/pdf", .other, "log")] as [(String, MediaType.Family, String)])
  func guess(mime: String, family: MediaType.Family, word: String) {
    #expect(Plan.word(for: MediaType(mime, family)) == word)
  }

  @Test("a word that is put first becomes the kind, and the options stay")
  func kindFirst() throws {
    let arguments = try Arguments(["a.jpg", "--cover", "b.jpg"], options: ["--cover"], flags: [])
    let beginning = arguments.beginning(with: "feed")
    #expect(beginning.rest == ["feed", "a.jpg"])
    #expect(beginning.value("--cover") == "b.jpg")
  }
}
