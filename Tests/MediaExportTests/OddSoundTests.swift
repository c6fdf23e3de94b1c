import ExportProtocol
import Foundation
import TaskModel
import Testing

@testable import MediaExport

@Suite("Sound that is not what it seems", .serialized)
struct OddSoundTests {
  private let folder: Folder
  private let output: String

  init() throws {
    folder = try Folder()
    output = folder.file("out.part")
  }

  private func tone(_ name: String, _ more: String...) throws -> String {
    try run("ffmpeg", ["-v", "error", "-y", "-f", "lavfi", "-i", "sine=d=3"] + more + [folder.file(name)])
    return folder.file(name)
  }

  private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

  @Test("AAC that an MP4 can't take as it is, is decoded instead, and no fault of the disk")
  func brokenADTS() throws {
    let source = try tone("s.aac", "-c:a", "aac", "-f", "adts")
    var content = [UInt8](try bytes(source))
    // Over the head of the second frame.
    for index in 7..<519 { content[index] = 0xFF }
    let broken = try folder.write("broken.aac", Data(content))
    do {
      let result = try Export.audio(broken, to: output)
      #expect(result.rung == "aac")
    } catch let failure as Failure {
      #expect(failure.code == .damaged)
    }
  }

  @Test("A length that was only guessed by the bit rate makes no whole file a damaged one")
  func guessedLength() throws {
    // Silence at first, so that the guess is five times the length.
    let source = folder.file("loud at the end.aac")
    try ffmpeg(
      "-f", "lavfi", "-i", "aevalsrc='if(lt(t,8),0,0.9*random(0))':s=44100:d=10,aformat=channel_layouts=5.1", "-c:a",
      "aac", "-q:a", "2", "-f", "adts", source)
    try #require(try MediaInfo(source).duration > 13)
    #expect(abs(try #require(try Export.audio(source, to: output).durationMs) - 10_000) < 100)
  }

  @Test("Tags between the frames of an MP3 stay behind, too")
  func joinedMP3() throws {
    let first = try bytes(try tone("tone.mp3", "-b:a", "96k", "-id3v2_version", "0"))
    let title = Data("TIT2".utf8) + Data([0, 0, 0, 13, 0, 0, 0]) + Data("secrettitle".utf8)
    let tag = Data("ID3".utf8) + Data([3, 0, 0, 0, 0, 0, UInt8(title.count)]) + title
    let result = try Export.audio(try folder.write("joined.mp3", first + tag + first), to: output)
    #expect(result.rung == "remux")
    #expect(try bytes(output).range(of: Data("secrettitle".utf8)) == nil)
    #expect(abs(try #require(result.durationMs) - 6000) < 120)
  }

  @Test("What was cut off is damaged", arguments: ["tone.wav", "tone.mp3"])
  func cutOff(name: String) throws {
    let whole = try bytes(try tone(name))
    let failure = #expect(throws: Failure.self) {
      try Export.audio(try folder.write("cut", whole.prefix(whole.count / 2)), to: output)
    }
    #expect(failure?.code == .damaged)
  }

  @Test("A WAV that was written into a pipe has no length, and is none the worse")
  func pipedWAV() throws {
    var data = try bytes(try tone("tone.wav", "-bitexact"))
    let samples = try #require(data.range(of: Data("data".utf8))).upperBound
    for start in [4, samples] { data.replaceSubrange(start..<start + 4, with: [0xFF, 0xFF, 0xFF, 0xFF]) }
    let result = try Export.audio(try folder.write("piped.wav", data), to: output)
    #expect(abs(try #require(result.durationMs) - 3000) < 100)
  }

  @Test("Pauses of an AMR are silence")
  func pauses() throws {
    let speech = Data([0x3C]) + Data(repeating: 0x55, count: 31)
    let hint = Data([0x44]) + Data(repeating: 0x11, count: 5)
    let nothing = Data([0x7C])
    var data = Data("#!AMR\n".utf8)
    for part in 0..<150 { data += part < 75 ? (part % 8 == 0 ? hint : nothing) : speech }
    let result = try Export.audio(try folder.write("voice.amr", data), to: output)
    #expect(abs(try #require(result.durationMs) - 3000) < 100)
  }

  @Test("AIFF and CAF become AAC", arguments: ["tone.aiff", "tone.caf"])
  func apple(name: String) throws {
    let source = try tone(name)
    #expect(try Export.probe(source).kind == .audio)
    let result = try Export.audio(source, to: output)
    #expect(result.mime == "audio/mp4")
    #expect(abs(try #require(result.durationMs) - 3000) < 100)
  }

  @Test(
    "An MP3 frame has the size that its header says",
    arguments: [
      ([0xFF, 0xFB, 0x90, 0x64], 417), ([0xFF, 0xFB, 0x92, 0x64], 418), ([0xFF, 0xF3, 0x40, 0xC4], 104),
      ([0xFF, 0xE3, 0x18, 0xC4], 72), ([0x49, 0x44, 0x33, 0x03], nil), ([0xFF, 0xFB, 0xF0, 0x64], nil),
      ([0xFF, 0xFD, 0x90, 0x64], nil), ([0xFF, 0xFB], nil),
    ] as [([UInt8], Int?)])
  func frameSize(head: [UInt8], size: Int?) { #expect(MP3Frame.size(head) == size) }
}
