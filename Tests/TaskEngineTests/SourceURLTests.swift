import Testing

@testable import TaskEngine

@Suite("The shape of a source's URL")
struct SourceURLTests {
  @Test("what can be fetched", arguments: ["https://h/a.jpg?sig=1", "HTTP://h:80", "http://[::1]:8080/a%20b"])
  func fine(_ url: String) { #expect(SourceURL.problem(with: url) == nil) }

  @Test(
    "what can't, without its query in the sentence",
    arguments: [
      "ftp://h/a?secret", "h/a", "", "https://", "https:///a?secret", "https://u:p@h/?secret", "https://h/a b?secret",
      "https://h/ä?secret", "http://:80/?secret", "file:///etc/passwd",
    ])
  func refused(_ url: String) throws {
    let problem = try #require(SourceURL.problem(with: url))
    #expect(!problem.contains("secret") && !problem.contains("u:p"))
  }

  @Test("the name is the last segment of the path")
  func name() {
    #expect(SourceURL.name(of: "https://h/x/my%20photo%C3%A4.jpg?sig=a/b") == "my photoä.jpg")
    #expect(SourceURL.name(of: "https://h/x/50%") == "50%")
    #expect(SourceURL.name(of: "https://h/?a=/b.jpg") == "")
    #expect(SourceURL.name(of: "https://h") == "")
  }
}
