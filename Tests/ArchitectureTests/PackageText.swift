import Foundation

/// Package.swift and the sources, read as text.
enum PackageText {
  struct Target {
    /// Counted from the top.
    let layer: Int
    let dependencies: Set<String>
    let folder: String
  }

  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static func read(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// Every target but those of tests, by name. A layer is a `MARK`.
  static func targets() throws -> [String: Target] {
    var targets: [String: Target] = [:]
    for (layer, section) in try read("Package.swift").components(separatedBy: "// MARK: ").dropFirst().enumerated()
    where !section.hasPrefix("Tests") {
      for declaration in section.split(separator: #/\.(target|executableTarget|systemLibrary)\(/#).dropFirst() {
        guard let name = words(of: "name", in: declaration).first else { continue }
        targets[name] = Target(
          layer: layer, dependencies: Set(words(of: "dependencies", in: declaration)),
          folder: words(of: "path", in: declaration).first ?? "Sources/\(name)")
      }
    }
    return targets
  }

  /// What stands in quotes behind a label: one word, or a list of them.
  private static func words(of label: String, in text: Substring) -> [String] {
    guard let start = text.firstRange(of: "\(label): ") else { return [] }
    let rest = text[start.upperBound...]
    let value = rest.first == "[" ? rest.prefix { $0 != "]" } : rest.prefix { $0 != "," && $0 != ")" }
    return value.matches(of: #/"([^"]*)"/#).map { String($0.output.1) }
  }

  /// Modules that the files of a target import, each with the first file that does.
  static func imports(of target: Target) throws -> [String: String] {
    let folder = root.appendingPathComponent(target.folder)
    let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    var found: [String: String] = [:]
    for file in files where file.hasSuffix(".swift") {
      for line in try read("\(target.folder)/\(file)").split(separator: "\n") {
        let words = line.split(separator: " ")
        guard let index = words.firstIndex(of: "import"), index <= 1, words.count > index + 1 else { continue }
        found[String(words[index + 1]), default: file] += ""
      }
    }
    return found
  }
}
