import Digest
import HTTP
import TaskModel

/// An entity tag as far as it can be a digest.
enum ETag {
  /// RFC 9110 section 8.8.3: the quotes belong to the syntax, not to the tag's bytes.
  static func bare(_ tag: String) -> String {
    tag.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"") ? String(tag.dropFirst().dropLast()) : tag
  }

  /// Of a part. Storage gives strong tags; a proxy that compresses makes a weak one of it, by which storage would not know its
  /// part again.
  static func ofPart(_ tag: String) -> String { bare(tag.hasPrefix("W/\"") ? String(tag.dropFirst(2)) : tag) }

  /// Whether the tag says what the MD5 is; nil where it does not look like one.
  static func matches(_ tag: String?, md5: String) -> Bool? {
    tag.flatMap { Receipt.tag($0, says: md5) }
  }

  /// Encrypted by a key that the storage does not tell, the tag is no digest of the bytes, whatever it looks like
  /// ("Checking object integrity", Amazon S3 User Guide).
  static func isHidden(_ response: HTTPResponse) -> Bool {
    response.header("x-amz-server-side-encryption")?.hasPrefix("aws:kms") == true
      || response.header("x-amz-server-side-encryption-customer-algorithm") != nil
  }

  /// What S3 gives an object of parts: the MD5 of their binary MD5s, and their number.
  /// - Parameter parts: in order, hex.
  static func ofParts(_ parts: [String]) throws(DigestError) -> String {
    let bytes = parts.flatMap { Hex.bytes($0) ?? [] }
    return Hex.text(try DigestStream.digest(.md5, of: bytes)) + "-\(parts.count)"
  }
}
