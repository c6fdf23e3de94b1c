// libvips 8.14 and later. Its operations are C varargs, which Swift cannot call; each inline here is one operation with
// the options that we use. All return 0 or -1 with the reason in vips_error_buffer().
#ifndef TC_CVIPS_SHIM_H
#define TC_CVIPS_SHIM_H

#include <gmodule.h>
#include <string.h>
#include <vips/vips.h>

// dladdr(3) and its struct are shown to _GNU_SOURCE only, which a module can't define; the layout is part of the ABI.
struct tc_vips_symbol {
  const char *file;
  void *base;
  const char *name;
  void *address;
};
extern int tc_vips_dladdr(const void *address, struct tc_vips_symbol *found) __asm__("dladdr");

/// Path of the library itself; NULL where it is linked into the program.
static inline const char *tc_vips_path(void) {
  struct tc_vips_symbol found;
  return tc_vips_dladdr((const void *)vips_init, &found) ? found.file : NULL;
}

// A moving AVIF, which may hold a picture that stands for it. libheif reads that, but libvips 8.14 does not know the brand.
static inline int tc_vips_is_avis(VipsSource *source) {
  const unsigned char *head = vips_source_sniff(source, 12);
  return head && memcmp(head + 4, "ftypavis", 8) == 0;
}

// Name of the loader that knows the bytes; NULL where there is none.
static inline const char *tc_vips_loader(VipsSource *source) {
  return tc_vips_is_avis(source) ? "VipsForeignLoadHeifSource" : vips_foreign_find_load_source(source);
}

static inline VipsImage *tc_vips_load(VipsSource *source, VipsFailOn fail_on) {
  VipsImage *image = NULL;
  if (!tc_vips_is_avis(source))
    return vips_image_new_from_source(source, "", "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on, NULL);
  vips_heifload_source(source, &image, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on, NULL);
  return image;
}

static inline VipsImage *tc_vips_open(VipsSource *source) { return tc_vips_load(source, VIPS_FAIL_ON_NONE); }

// Decodes every pixel, keeps none, and takes a mere warning of the decoder for a failure.
static inline int tc_vips_verify(VipsSource *source) {
  double mean;
  VipsImage *image = tc_vips_load(source, VIPS_FAIL_ON_WARNING);
  if (!image) return -1;
  int result = vips_avg(image, &mean, NULL);
  g_object_unref(image);
  return result;
}

// A TIFF may hold itself in smaller sizes. vips_thumbnail_source of 8.14 takes the smallest of them where size is "down",
// however small it is, so the picture itself is opened, for which there is no quicker way in a TIFF anyway.
static inline int tc_vips_thumbnail_whole(
    VipsSource *source, VipsImage **out, int width, int height, VipsInteresting interesting, int convert) {
  VipsImage *image = tc_vips_load(source, VIPS_FAIL_ON_TRUNCATED);
  if (!image) return -1;
  int result = convert ? vips_thumbnail_image(
                             image, out, width, "height", height, "size", VIPS_SIZE_DOWN, "crop", interesting,
                             "export_profile", "srgb", NULL)
                       : vips_thumbnail_image(
                             image, out, width, "height", height, "size", VIPS_SIZE_DOWN, "crop", interesting, NULL);
  g_object_unref(image);
  return result;
}

// size=down never enlarges. fail_on=truncated makes a picture that is cut off an error in place of a half-grey picture;
// it is said to the loader, since vips_thumbnail_source of 8.14 drops its own option of that name on the way.
// Converting to a profile costs as much CPU as all the rest together, also from sRGB to sRGB, so it is only done on demand.
static inline int tc_vips_thumbnail(
    VipsSource *source, VipsImage **out, int width, int height, int crop, int convert) {
  VipsInteresting interesting = crop ? VIPS_INTERESTING_CENTRE : VIPS_INTERESTING_NONE;
  const char *loader = tc_vips_loader(source);
  if (tc_vips_is_avis(source) || (loader && vips_isprefix("VipsForeignLoadTiff", loader)))
    return tc_vips_thumbnail_whole(source, out, width, height, interesting, convert);
  if (convert)
    return vips_thumbnail_source(
        source, out, width, "height", height, "size", VIPS_SIZE_DOWN, "crop", interesting, "export_profile", "srgb",
        "option_string", "fail_on=truncated", NULL);
  return vips_thumbnail_source(
      source, out, width, "height", height, "size", VIPS_SIZE_DOWN, "crop", interesting, "option_string",
      "fail_on=truncated", NULL);
}

// For a GIF: no profile, no smaller sizes of itself.
static inline int tc_vips_thumbnail_part(
    VipsSource *source, VipsImage **out, int left, int top, int part_width, int part_height, int width, int height,
    int crop) {
  VipsImage *image = tc_vips_load(source, VIPS_FAIL_ON_TRUNCATED);
  VipsImage *part = NULL, *whole = NULL;
  if (!image) return -1;
  // Where libvips finds the canvas another one than its header says, there is no telling where the part lies.
  if (left + part_width > vips_image_get_width(image) || top + part_height > vips_image_get_height(image)) {
    left = top = 0;
    part_width = vips_image_get_width(image);
    part_height = vips_image_get_height(image);
  }
  int result = vips_extract_area(image, &part, left, top, part_width, part_height, NULL);
  if (!result)
    // All bands at their highest: white, and nothing of it can be seen through.
    result = vips_embed(
        part, &whole, left, top, vips_image_get_width(image), vips_image_get_height(image), "extend", VIPS_EXTEND_WHITE,
        NULL);
  if (!result)
    result = vips_thumbnail_image(
        whole, out, width, "height", height, "size", VIPS_SIZE_DOWN, "crop",
        crop ? VIPS_INTERESTING_CENTRE : VIPS_INTERESTING_NONE, NULL);
  if (whole) g_object_unref(whole);
  if (part) g_object_unref(part);
  g_object_unref(image);
  return result;
}

static inline int tc_vips_thumbnail_image(VipsImage *in, VipsImage **out, int width, int height) {
  return vips_thumbnail_image(in, out, width, "height", height, "size", VIPS_SIZE_DOWN, NULL);
}

static inline VipsImage *tc_vips_from_rgb(const void *bytes, size_t size, int width, int height) {
  VipsImage *bare = vips_image_new_from_memory_copy(bytes, size, width, height, 3, VIPS_FORMAT_UCHAR);
  VipsImage *image = NULL;
  if (!bare) return NULL;
  vips_copy(bare, &image, "interpretation", VIPS_INTERPRETATION_sRGB, NULL);
  g_object_unref(bare);
  return image;
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

static inline int tc_vips_heifsave(VipsImage *in, VipsTarget *target, int quality) {
  return vips_heifsave_target(
      in, target, "Q", quality, "compression", VIPS_FOREIGN_HEIF_COMPRESSION_HEVC, "strip", TRUE, NULL);
}

#endif
