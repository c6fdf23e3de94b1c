/// One page of ListParts, and what ListMultipartUploads names.
struct S3Listing: Sendable {
  struct Part: Sendable, Hashable {
    let number: Int
    /// Bytes.
    let size: Int64
    /// Without quotes.
    let etag: String
  }

  let parts: [Part]
  /// Where the next page begins; nil on the last one.
  let nextMarker: Int?

  init(_ body: [UInt8]) {
    let document = S3XML.document(body)
    parts = S3XML.elements("Part", in: document).compactMap { part in
      guard let number = S3XML.text("PartNumber", in: part).flatMap({ Int($0) }),
        let size = S3XML.text("Size", in: part).flatMap({ Int64($0) }), let etag = S3XML.text("ETag", in: part)
      else { return nil }
      return Part(number: number, size: size, etag: ETag.bare(etag))
    }
    let isTruncated = S3XML.text("IsTruncated", in: document) == "true"
    nextMarker = isTruncated ? S3XML.text("NextPartNumberMarker", in: document).flatMap { Int($0) } : nil
  }

  /// Ids of the uploads of this very key; a prefix finds longer keys too.
  static func uploads(_ body: [UInt8], key: String) -> [String] {
    S3XML.elements("Upload", in: S3XML.document(body)).compactMap { upload in
      S3XML.text("Key", in: upload) == key ? S3XML.text("UploadId", in: upload) : nil
    }
  }
}
