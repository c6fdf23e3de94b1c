import Foundation
import Synchronization

/// A server of Tests/Servers: lives as long as this object, and ends with the test process whatever happens to it,
/// because it reads its standard input until the end.
public final class ServerProcess: Sendable {
  public struct NotReady: Error {
    public let command: String
  }

  /// The words after `ready` in the line it says when it can be used.
  public let words: [String]
  private let input: FileHandle
  private let process: ProcessBox

  /// - Parameter script: a file name in Tests/Servers.
  /// - Throws: `NotReady` where it ends without that line.
  public init(_ script: String, _ arguments: [String] = []) throws {
    var ends: (input: Pipe, output: Pipe)?
    let process = try Spawning.start {
      let pipes = (input: Pipe(), output: Pipe())
      ends = pipes
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = [script.hasSuffix(".py") ? "python3" : "bash", Self.folder + "/" + script] + arguments
      process.standardInput = pipes.input
      process.standardOutput = pipes.output
      return process
    }
    guard let ends else { throw NotReady(command: script) }
    self.process = ProcessBox(process: process)
    input = ends.input.fileHandleForWriting
    guard let line = Self.firstLine(ends.output.fileHandleForReading), line.hasPrefix("ready") else {
      process.terminate()
      throw NotReady(command: script)
    }
    words = line.split(separator: " ").dropFirst().map(String.init)
  }

  /// The first of the words, for most scripts.
  public var port: Int { Int(words[0]) ?? 0 }
  public var url: String { "http://127.0.0.1:\(port)" }

  /// Of a server that has this door: changes what it does.
  public func set(_ json: String) throws { _ = try Curl.fetch(url + "/_set", post: json) }

  /// Of a server that has this door: the requests so far.
  public func log() throws -> [[String: Any]] {
    try JSONSerialization.jsonObject(with: try Curl.fetch(url + "/_log")) as? [[String: Any]] ?? []
  }

  deinit {
    try? input.close()
    process.process.waitUntilExit()
  }

  private static var folder: String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path + "/Servers"
  }

  private static func firstLine(_ handle: FileHandle) -> String? {
    var line = Data()
    while let byte = try? handle.read(upToCount: 1), let first = byte.first {
      if first == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(first)
    }
    return nil
  }
}

/// Sendable because only `deinit` uses it after the start.
private struct ProcessBox: @unchecked Sendable {
  let process: Process
}
