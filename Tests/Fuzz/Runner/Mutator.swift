/// SplitMix64: the same numbers everywhere, so that a run can be repeated.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Makes new inputs of old ones.
struct Mutator {
  var random: SeededGenerator
  let seeds: [[UInt8]]

  /// Where length fields and counters break, and what means something in text.
  private static let bytes: [UInt8] = [
    0, 1, 0x0A, 0x0D, 0x20, 0x22, 0x2C, 0x3A, 0x5B, 0x5C, 0x5D, 0x7B, 0x7D, 0x7F, 0x80, 0xFF,
  ]
  private static let longest = 8192

  mutating func next() -> [UInt8] {
    var input = seeds.randomElement(using: &random) ?? []
    for _ in 0..<Int.random(in: 1...6, using: &random) { change(&input) }
    return Array(input.prefix(Self.longest))
  }

  private mutating func change(_ input: inout [UInt8]) {
    let place = Int.random(in: 0...input.count, using: &random)
    let end = min(input.count, place + Int.random(in: 0...16, using: &random))
    switch Int.random(in: 0..<8, using: &random) {
    case 0 where place < input.count: input[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
    case 1 where place < input.count: input[place] = Self.bytes.randomElement(using: &random) ?? 0
    case 2: input.insert(Self.bytes.randomElement(using: &random) ?? 0, at: place)
    case 3: input.removeSubrange(place..<end)
    case 4: input.insert(contentsOf: input[place..<end], at: place)
    case 5: input.removeSubrange(place...)
    case 6:
      // The beginning of one and the end of another.
      guard let other = seeds.randomElement(using: &random) else { return }
      input.replaceSubrange(place..., with: other.suffix(Int.random(in: 0...other.count, using: &random)))
    default:
      let digits = ["0", "-1", "1e309", "9223372036854775808", "65536", "null", "\\u0000", "\\ud800", "[[[["]
      input.insert(contentsOf: Array((digits.randomElement(using: &random) ?? "").utf8), at: place)
    }
  }
}
