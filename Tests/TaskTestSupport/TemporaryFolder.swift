public import Foundation

/// A folder that goes with its last reference.
public final class TemporaryFolder: Sendable {
  public let path: String

  public init() throws {
    path = FileManager.default.temporaryDirectory.path + "/taskcenter-test-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of `name` in it.
  public func callAsFunction(_ name: String) -> String { path + "/" + name }

  /// Writes a file and returns its path.
  @discardableResult
  public func write(_ content: Data, to name: String) throws -> String {
    try content.write(to: URL(fileURLWithPath: self(name)))
    return self(name)
  }

  public func read(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: self(name))) }
}

extension Data {
  private static var blockSize: Int { 1 << 16 }

  /// Bytes that look random and are the same in every run.
  public static func sample(_ count: Int, seed: UInt64 = 1) -> Data {
    var state = seed
    var block = Data(capacity: blockSize)
    while block.count < Swift.min(blockSize, count) {
      // SplitMix64
      state &+= 0x9E37_79B9_7F4A_7C15
      var word = state
      word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
      word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
      word ^= word >> 31
      Swift.withUnsafeBytes(of: word) { block.append(contentsOf: $0) }
    }
    // Large samples are that block over and over, each with its number in it: no two stretches are the same.
    var data = Data(capacity: count + blockSize)
    while data.count < count {
      let number = UInt64(data.count / blockSize)
      data.append(block)
      guard number > 0 else { continue }
      Swift.withUnsafeBytes(of: number) { data.replaceSubrange(data.count - 8..<data.count, with: $0) }
    }
    return data.prefix(count)
  }
}
