import CVips

/// libvips keeps the loaders with the longest records of holes (ImageMagick, PDF, OpenSlide, JPEG XL) in modules of its
/// own, and its start loads one and all where it finds them: blocked or not, their code would be in the process.
/// `VipsLibrary` hides that folder from it; HEIF is the one module that is used here.
enum HEIFModule {
  /// From the folder beside libvips itself. Where HEIF is built in, or not installed, there is nothing to load.
  static func load() {
    guard let path = tc_vips_path().map({ String(cString: $0) }) else { return }
    guard let slash = path.lastIndex(of: "/") else { return }
    let folder = "\(path[..<slash])/vips-modules-\(vips_version(0)).\(vips_version(1))"
    guard let module = g_module_open(folder + "/vips-heif.so", G_MODULE_BIND_LAZY) else { return }
    g_module_make_resident(module)
  }
}
