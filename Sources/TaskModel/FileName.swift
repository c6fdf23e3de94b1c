/// Names that go up with a resource.
public enum FileName {
  /// The last component of a path, without anything that could be one elsewhere: no separators, no control characters,
  /// never empty, at most 200 bytes of UTF-8.
  public static func safe(_ path: String) -> String {
    // By scalars: a mark behind a slash makes one character of both, and the folder's name would go up.
    let last = path.unicodeScalars.split(separator: "/").last ?? Substring.UnicodeScalarView()
    var scalars = String.UnicodeScalarView()
    var bytes = 0
    for scalar in last {
      let isControl = scalar.value < 0x20 || scalar.value == 0x7F
      let safe: Unicode.Scalar = isControl || scalar == "\\" || scalar == "/" ? "_" : scalar
      bytes += UTF8.width(safe)
      if bytes > 200 { break }
      scalars.append(safe)
    }
    let name = String(scalars)
    return name.isEmpty || name == "." || name == ".." ? "file" : name
  }

  /// `name` with the extension of what an export made of it; unchanged where the export is of the source's own type.
  public static func of(_ name: String, from sourceMime: String, exportedAs mime: String) -> String {
    guard mime != sourceMime, let ending = endings[mime] else { return name }
    return "\(stem(of: name)).\(ending)"
  }

  /// `clip.mov` and `poster` make `clip-poster.jpg`.
  public static func derived(_ name: String, _ role: ResourceRole) -> String {
    "\(stem(of: name))-\(role.rawValue).jpg"
  }

  /// Without its extension; a name that begins with its only dot has none.
  private static func stem(of name: String) -> Substring {
    name.lastIndex(of: ".").map { $0 == name.startIndex ? name[...] : name[..<$0] } ?? name[...]
  }

  private static let endings = [
    "image/jpeg": "jpg", "image/heic": "heic", "video/mp4": "mp4", "audio/mp4": "m4a", "audio/mpeg": "mp3",
    "application/zip": "zip",
  ]
}
