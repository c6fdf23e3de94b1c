// Feeds every reader with its corpus and with so many inputs made of it: the same ones each time, so that a run of the
// tests says the same today and tomorrow. What libFuzzer finds with more patience (`make fuzz`) goes into the corpus.
//
// usage: fuzz-runner CORPUS COUNT LAST     (LAST: a file that holds the input under test, also after a crash)
import FuzzTargets
import Glibc

func fail(_ message: String) -> Never {
  let line = Array((message + "\n").utf8)
  _ = write(2, line, line.count)
  exit(64)
}

func contents(of path: String) -> [UInt8] {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { fail("\(path) can't be read") }
  defer { close(file) }
  var bytes = [UInt8](repeating: 0, count: 1 << 20)
  let count = read(file, &bytes, bytes.count)
  guard count > 0 else { fail("\(path) is empty") }
  return Array(bytes[..<count])
}

func names(in path: String) -> [String] {
  guard let folder = opendir(path) else { return [] }
  defer { closedir(folder) }
  var names: [String] = []
  while let entry = readdir(folder) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
      pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if !name.hasPrefix(".") { names.append(name) }
  }
  return names.sorted()
}

let words = CommandLine.arguments
guard words.count == 4, let count = Int(words[2]) else { fail("usage: fuzz-runner CORPUS COUNT LAST") }
let last = open(words[3], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
guard last >= 0 else { fail("\(words[3]) can't be written") }

for target in FuzzTarget.allCases {
  let folder = "\(words[1])/\(target.rawValue)"
  let seeds = names(in: folder).map { contents(of: "\(folder)/\($0)") }
  guard !seeds.isEmpty else { fail("\(folder) is empty") }
  var mutator = Mutator(random: SeededGenerator(state: 1), seeds: seeds)
  for number in 0..<seeds.count + count {
    let input = number < seeds.count ? seeds[number] : mutator.next()
    ftruncate(last, 0)
    pwrite(last, input, input.count, 0)
    target.run(input)
  }
  print("\(target.rawValue): \(seeds.count) files of the corpus and \(count) inputs made of them")
}
