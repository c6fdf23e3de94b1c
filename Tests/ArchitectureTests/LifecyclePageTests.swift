import Foundation
import TaskModel
import Testing

@Suite("The lifecycle page")
struct LifecyclePageTests {
  @Test("its diagram has the machine's states and edges, all of them and no others")
  func diagram() throws {
    let page = try PackageText.read("docs/lifecycle.md")
    var drawn: Set<String> = []
    for line in page.split(separator: "\n") {
      let parts = line.split(separator: ":")[0].components(separatedBy: "-->").map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard parts.count == 2, parts[0] != "[*]", parts[1] != "[*]" else { continue }
      drawn.insert("\(parts[0]) → \(parts[1])")
    }
    let edges = TaskState.allCases.flatMap { state in state.successors.map { "\(state.rawValue) → \($0.rawValue)" } }
    #expect(drawn == Set(edges))
    for state in TaskState.allCases { #expect(page.contains("`\(state.rawValue)`")) }
    for state in ResourceState.allCases { #expect(page.contains("`\(state.rawValue)`")) }
  }
}
