import CCrypto

public enum DigestAlgorithm: Sendable, CaseIterable {
  case md5, sha1, sha256

  /// Bytes of the digest.
  public var length: Int {
    switch self {
    case .md5: 16
    case .sha1: 20
    case .sha256: 32
    }
  }
}

/// libcrypto would not compute a digest, as where a policy forbids MD5.
public struct DigestError: Error, Sendable, Hashable, CustomStringConvertible {
  public let algorithm: DigestAlgorithm
  public var description: String { "libcrypto does not compute \(algorithm)" }
}

/// A digest of bytes that come piece by piece.
public struct DigestStream: ~Copyable {
  private let context: OpaquePointer
  private let algorithm: DigestAlgorithm

  /// - Throws: `DigestError`.
  public init(_ algorithm: DigestAlgorithm) throws(DigestError) {
    guard let context = EVP_MD_CTX_new() else { throw DigestError(algorithm: algorithm) }
    guard EVP_DigestInit_ex(context, algorithm.method, nil) == 1 else {
      EVP_MD_CTX_free(context)
      throw DigestError(algorithm: algorithm)
    }
    self.context = context
    self.algorithm = algorithm
  }

  deinit { EVP_MD_CTX_free(context) }

  public mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    EVP_DigestUpdate(context, start, bytes.count)
  }

  public consuming func finish() -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: algorithm.length)
    EVP_DigestFinal_ex(context, &digest, nil)
    return digest
  }

  /// - Throws: `DigestError`.
  public static func digest(_ algorithm: DigestAlgorithm, of bytes: [UInt8]) throws(DigestError) -> [UInt8] {
    var stream = try DigestStream(algorithm)
    bytes.withUnsafeBytes { stream.update($0) }
    return stream.finish()
  }
}

extension DigestAlgorithm {
  var method: OpaquePointer? {
    switch self {
    case .md5: EVP_md5()
    case .sha1: EVP_sha1()
    case .sha256: EVP_sha256()
    }
  }
}

/// A keyed digest (RFC 2104).
public enum HMAC {
  /// - Throws: `DigestError`.
  public static func sha256(key: [UInt8], of bytes: [UInt8]) throws(DigestError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: DigestAlgorithm.sha256.length)
    var length: UInt32 = 0
    guard CCrypto.HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &digest, &length) != nil else {
      throw DigestError(algorithm: .sha256)
    }
    return digest
  }
}
