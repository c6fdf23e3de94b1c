import Glibc
import JSON
import Platform

/// Why an engine can't be configured; its exit status is 78 (EX_CONFIG of sysexits.h).
public struct ConfigError: Error, Sendable, Equatable, CustomStringConvertible {
  public let description: String
}

/// The config as a file.
public enum ConfigFile {
  /// Reads the settings, and adds the destination that is there without any config.
  /// - Parameters:
  ///   - path: of the file; nil: the usual place, where it may be missing.
  ///   - environment: for the usual places and for `${env:NAME}`.
  /// - Throws: `ConfigError`, saying where and what.
  public static func load(path: String?, environment: [String: String]) throws(ConfigError) -> Config {
    let usual = Places(environment).config
    var config = Config()
    if let text = try read(path ?? usual, mayBeMissing: path == nil) {
      config = try parse(text, path: path ?? usual, environment)
    }
    if config.destinations[Config.localDestination] == nil {
      let outbox = Places(environment).outbox
      config.destinations[Config.localDestination] = Destination(
        credential: .directory(path: outbox), delivery: .journal(path: outbox + "/sent.jsonl"))
    }
    return config
  }

  private static func parse(
    _ text: [UInt8], path: String, _ environment: [String: String]
  ) throws(ConfigError) -> Config {
    do {
      let config = try ConfigReader.read(try JSONParser.parse(text)) { reader throws(JSONShapeError) in
        try expand(reader, environment)
      }
      if let caFile = config.uploads.caFile { try check(caFile, at: "/uploads/caFile") }
      return config
    } catch let error as JSONSyntaxError {
      let place = place(of: error.offset, in: text)
      throw ConfigError(description: "\(path):\(place.line):\(place.column): \(error.message)")
    } catch {
      throw ConfigError(description: "\(path): \(error)")
    }
  }

  /// Better said now than by every upload that fails.
  private static func check(_ file: String, at pointer: String) throws(JSONShapeError) {
    do { _ = try OpenFile(path: file, flags: O_RDONLY | O_NONBLOCK) } catch {
      throw JSONShapeError(pointer: pointer, message: "the file \(file) can't be read: \(error.reason)")
    }
  }

  /// As editors count, from 1; columns in bytes.
  private static func place(of offset: Int, in text: [UInt8]) -> (line: Int, column: Int) {
    let before = text.prefix(offset)
    let newline = UInt8(ascii: "\n")
    let lineStart = before.lastIndex(of: newline).map { $0 + 1 } ?? 0
    return (before.count { $0 == newline } + 1, offset - lineStart + 1)
  }

  private static func read(_ path: String, mayBeMissing: Bool) throws(ConfigError) -> [UInt8]? {
    do {
      return try OpenFile(path: path, flags: O_RDONLY | O_NONBLOCK).readAll(limit: 1 << 20)
    } catch {
      if mayBeMissing, error.isNotFound { return nil }
      throw ConfigError(description: "\(path): can't be read: \(error.reason)")
    }
  }

  /// `${env:NAME}` and `${file:PATH}` inside a string; the file's last newline does not count.
  private static func expand(
    _ reader: JSONReader, _ environment: [String: String]
  ) throws(JSONShapeError) -> String {
    var rest = Substring(try reader.nonEmptyString())
    var result = ""
    while let start = rest.firstRange(of: "${") {
      result += rest[..<start.lowerBound]
      rest = rest[start.upperBound...]
      guard let end = rest.firstIndex(of: "}") else { throw reader.error("\"${\" without \"}\"") }
      result += try resolve(rest[..<end], reader, environment)
      rest = rest[rest.index(after: end)...]
    }
    return result + rest
  }

  private static func resolve(
    _ reference: Substring, _ reader: JSONReader, _ environment: [String: String]
  ) throws(JSONShapeError) -> String {
    let parts = reference.split(separator: ":", maxSplits: 1).map(String.init)
    switch (parts.first, parts.count) {
    case ("env", 2):
      guard let value = environment[parts[1]] else {
        throw reader.error("the environment variable \(parts[1]) is not set")
      }
      return value
    case ("file", 2):
      do {
        var bytes = try OpenFile(path: parts[1], flags: O_RDONLY | O_NONBLOCK).readAll(limit: 1 << 16)
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
      } catch {
        throw reader.error("the file \(parts[1]) can't be read: \(error.reason)")
      }
    default: throw reader.error("unknown reference ${\(reference)}; known: ${env:NAME}, ${file:PATH}")
    }
  }
}

extension OpenFile {
  /// All bytes from the start.
  /// - Throws: `SystemError`, EFBIG beyond `limit`.
  fileprivate func readAll(limit: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var count = 0
    while count < bytes.count {
      let result = bytes.withUnsafeMutableBytes { buffer in
        Result { () throws(SystemError) in
          try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]), at: Int64(count))
        }
      }
      let got = try result.get()
      if got == 0 { return Array(bytes[..<count]) }
      count += got
    }
    throw SystemError("read", number: EFBIG)
  }
}
