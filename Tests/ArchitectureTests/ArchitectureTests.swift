import Foundation
import Testing

/// Package.swift says what may use what; the sources keep to it, and docs/modules.md shows it.
@Suite("The dependency picture")
struct ArchitectureTests {
  private let targets: [String: PackageText.Target]

  init() throws { targets = try PackageText.targets() }

  private static let system: Set<String> = ["Glibc", "Dispatch", "Synchronization"]

  @Test("a target imports what it declares and nothing else, so no target can reach one that it does not name")
  func imports() throws {
    for (name, target) in targets {
      let found = try PackageText.imports(of: target)
      for (module, file) in found where !Self.system.contains(module) {
        #expect(target.dependencies.contains(module), "\(target.folder)/\(file) imports \(module)")
      }
      let unused = target.dependencies.subtracting(found.keys)
      #expect(unused == [], "\(name) declares what it does not import")
    }
  }

  @Test("nothing points up")
  func layers() throws {
    for (name, target) in targets {
      for dependency in target.dependencies {
        let below = try #require(targets[dependency], "\(name) needs \(dependency), which is no target")
        #expect(below.layer >= target.layer, "\(name) stands below \(dependency)")
      }
    }
  }

  @Test("every folder of Sources is a target, and every target with Swift in it is on the page")
  func complete() throws {
    let folders = try FileManager.default.contentsOfDirectory(
      atPath: PackageText.root.appendingPathComponent("Sources").path)
    #expect(Set(folders).subtracting(targets.keys) == [])
    let page = try PackageText.read("docs/modules.md")
    for target in targets.keys { #expect(page.contains(target), "docs/modules.md does not name \(target)") }
  }

  @Test("a C module is imported by its façade alone, and only the worker's side reaches the media libraries")
  func facades() {
    let lowest = targets.values.map(\.layer).max()
    let cModules = targets.filter { $0.value.layer == lowest }.keys
    #expect(cModules.contains("CSQLite"))
    for module in cModules {
      #expect(targets.values.count { $0.dependencies.contains(module) } == 1, "\(module) has one façade")
    }
    var reached: Set<String> = []
    var queue = ["taskcenterd"]
    while let name = queue.popLast() {
      guard reached.insert(name).inserted else { continue }
      queue += targets[name]?.dependencies ?? []
    }
    #expect(reached.isDisjoint(with: ["CFFmpeg", "CVips", "CArchive", "MediaExport", "LogArchive"]))
    #expect(reached.contains("CSQLite"))
  }
}
