import ExportProtocol
import Foundation
import TaskModel
import Testing

@Suite("Sound", .serialized)
struct AudioExportTests {
  private let folder: Folder
  private let output: String

  init() throws {
    folder = try Folder()
    output = folder.file("out.part")
  }

  @Test("MP3 and AAC are passed on without cover and tags", arguments: [("a01", "audio/mpeg"), ("a02", "audio/mp4")])
  func passing(id: String, mime: String) throws {
    let result = try Export.audio(Corpus.file(id), to: output)
    #expect(result.mime == mime)
    #expect(result.rung == "remux")
    let info = try MediaInfo(output)
    #expect(info.streams.count == 1)
    #expect(abs(info.duration - 3) < 0.1)
    #expect(try run("exiftool", "-s", "-Title", "-Picture", "-CoverArt", output).isEmpty)
  }

  @Test("Anything else becomes AAC", arguments: ["a03", "a04", "a06", "a11"])
  func encoding(id: String) throws {
    let result = try Export.audio(Corpus.file(id), to: output)
    #expect(result.mime == "audio/mp4")
    #expect(abs(try #require(result.durationMs) - 3000) < 100)
    let audio = try MediaInfo(output).stream("audio")
    #expect(audio["codec_name"] as? String == "aac")
    #expect(try #require(audio["channels"] as? Int) <= 2)
  }

  @Test("A file without a sample is damaged")
  func empty() throws {
    let failure = #expect(throws: Failure.self) { try Export.audio(Corpus.file("a10"), to: output) }
    #expect(failure?.code == .damaged)
    #expect(folder.names == [])
  }
}
