// libvips 8.14 and later. Its operations are C varargs, which Swift cannot call; each inline here is one operation with
// the options that we use. All return 0 or -1 with the reason in vips_error_buffer().
#ifndef TC_CVIPS_SHIM_H
#define TC_CVIPS_SHIM_H

#include <vips/vips.h>

static inline VipsImage *tc_vips_open(VipsSource *source) {
  return vips_image_new_from_source(source, "", "access", VIPS_ACCESS_SEQUENTIAL, NULL);
}

// size=down never enlarges. fail_on=truncated makes a picture that is cut off an error in place of a half-grey picture;
// it is said to the loader, since vips_thumbnail_source of 8.14 drops its own option of that name on the way.
static inline int tc_vips_thumbnail(VipsSource *source, VipsImage **out, int width, int height, int crop) {
  return vips_thumbnail_source(
      source, out, width, "height", height, "size", VIPS_SIZE_DOWN, "crop",
      crop ? VIPS_INTERESTING_CENTRE : VIPS_INTERESTING_NONE, "export_profile", "srgb", "option_string",
      "fail_on=truncated", NULL);
}

static inline int tc_vips_colourspace(VipsImage *in, VipsImage **out, VipsInterpretation space) {
  return vips_colourspace(in, out, space, NULL);
}

static inline int tc_vips_flatten_white(VipsImage *in, VipsImage **out) {
  VipsArrayDouble *white = vips_array_double_newv(1, 255.0);
  int result = vips_flatten(in, out, "background", white, NULL);
  vips_area_unref(VIPS_AREA(white));
  return result;
}

static inline int tc_vips_jpegsave(VipsImage *in, VipsTarget *target, int quality) {
  return vips_jpegsave_target(in, target, "Q", quality, "optimize_coding", TRUE, "strip", TRUE, NULL);
}

#endif
