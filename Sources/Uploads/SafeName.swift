/// Names that are one path segment, whoever chose them.
enum SafeName {
  /// File systems take 255 bytes; the index before the name and a temporary suffix need some of them.
  static let maximumBytes = 200

  /// '/', NUL and control characters become '_'; so do '.' and '..' as a whole and the empty name. A name that is too long
  /// is cut before its extension, between characters.
  static func segment(_ name: String) -> String {
    var result = String(
      String.UnicodeScalarView(name.unicodeScalars.map { $0 == "/" || $0.value < 0x20 || $0.value == 0x7F ? "_" : $0 }))
    if result.isEmpty || result == "." || result == ".." { return "_" }
    guard result.utf8.count > maximumBytes else { return result }
    var ending = ""
    if let dot = result.lastIndex(of: "."), dot != result.startIndex, result[dot...].utf8.count <= 20 {
      ending = String(result[dot...])
      result = String(result[..<dot])
    }
    while result.utf8.count + ending.utf8.count > maximumBytes { result.removeLast() }
    return result + ending
  }
}
