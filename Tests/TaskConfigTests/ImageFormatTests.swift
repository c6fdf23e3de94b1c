import JSON
import TaskConfig
import Testing

@Suite("What a feed's pictures become, as the config says")
struct ImageFormatTests {
  private func read(_ image: String) throws -> Config.ImageFormat {
    let value = try JSONParser.parse(#"{"kinds":{"feedPost":{"image":\#(image)}}}"#)
    return try ConfigReader.read(value) { reader throws(JSONShapeError) in try reader.string() }.kinds.feedPost.image
  }

  @Test("JPEG unless HEIC is asked for")
  func formats() throws {
    #expect(try read("{}") == Config.ImageFormat(longEdge: 2048, quality: 82, format: .jpeg))
    #expect(try read(#"{"format":"heic"}"#).format == .heic)
    #expect(try read(#"{"format":"jpeg","longEdge":1000}"#).longEdge == 1000)
  }

  @Test("Another format is an error that names its place")
  func unknown() {
    let error = #expect(throws: JSONShapeError.self) { try read(#"{"format":"png"}"#) }
    #expect(error?.pointer == "/kinds/feedPost/image/format")
  }
}
