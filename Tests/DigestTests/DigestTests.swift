import Foundation
import Glibc
import Platform
import TaskTestSupport
import Testing

@testable import Digest

@Suite("Digests")
struct DigestTests {
  @Test(
    "known vectors of RFC 1321 and FIPS 180-4",
    arguments: [
      (
        "", "d41d8cd98f00b204e9800998ecf8427e", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
      ),
      (
        "abc", "900150983cd24fb0d6963f7d28e17f72", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
      ),
    ])
  func vectors(_ text: String, _ md5: String, _ sha256: String) throws {
    #expect(Hex.text(try DigestStream.digest(.md5, of: Array(text.utf8))) == md5)
    #expect(Hex.text(try DigestStream.digest(.sha256, of: Array(text.utf8))) == sha256)
  }

  @Test("HMAC of RFC 4231, case 2")
  func hmac() throws {
    let mac = try HMAC.sha256(key: Array("Jefe".utf8), of: Array("what do ya want for nothing?".utf8))
    #expect(Hex.text(mac) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  }

  @Test(
    "base64 of RFC 4648 section 10",
    arguments: zip(
      ["", "f", "fo", "foo", "foob", "fooba", "foobar"],
      ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]))
  func base64(_ text: String, _ encoded: String) { #expect(Base64.text(Array(text.utf8)) == encoded) }

  @Test("hex comes back as it was, and what is not hex is refused")
  func hex() {
    #expect(Hex.bytes("00ff7F") == [0, 255, 127])
    #expect(Hex.text([0, 255, 127]) == "00ff7f")
    #expect(Hex.bytes("0") == nil)
    #expect(Hex.bytes("zz") == nil)
  }

  @Test(
    "a file has the digests that md5sum and sha256sum find, on one thread and on two",
    arguments: [0, 1, 524_287, 524_288, 524_289, 2_097_152, 5_000_003])
  func fileDigest(_ size: Int) async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(.sample(size), to: "file")
    let file = try OpenFile(path: path, flags: O_RDONLY)
    let found = try await FileDigest.compute(file)
    #expect(found.size == Int64(size))
    #expect(found.md5 == (try sum("md5sum", path)))
    #expect(found.sha256 == (try sum("sha256sum", path)))
    #expect(found == (try FileDigest.computeAlone(file, CancelFlag())))
    #expect(found == (try FileDigest.computeInPair(file, CancelFlag())))
  }

  @Test("a raised flag ends the work of both threads")
  func canceled() throws {
    let folder = try TemporaryFolder()
    let file = try OpenFile(path: try folder.write(.sample(3_000_000), to: "file"), flags: O_RDONLY)
    let flag = CancelFlag()
    flag.raise()
    #expect(throws: CancellationError.self) { try FileDigest.computeInPair(file, flag) }
    #expect(throws: CancellationError.self) { try FileDigest.computeAlone(file, flag) }
  }

  @Test("what can't be read is an error on two threads as on one")
  func unreadable() throws {
    let file = try OpenFile(path: "/", flags: O_RDONLY | O_DIRECTORY)
    #expect(throws: SystemError.self) { try FileDigest.computeInPair(file, CancelFlag()) }
    #expect(throws: SystemError.self) { try FileDigest.computeAlone(file, CancelFlag()) }
  }

  private func sum(_ program: String, _ path: String) throws -> String {
    String(String(decoding: try Command.run(program, [path]), as: UTF8.self).prefix { $0 != " " })
  }
}
