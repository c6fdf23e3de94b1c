// FFmpeg 5.1 and later. Only what Swift's importer cannot see: error codes and constants that are casts or tags.
#ifndef TC_CFFMPEG_SHIM_H
#define TC_CFFMPEG_SHIM_H

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <libavutil/dovi_meta.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>

static const int tc_error_eof = AVERROR_EOF;
static const int tc_error_again = AVERROR(EAGAIN);
static const int64_t tc_no_pts = AV_NOPTS_VALUE;
static const int64_t tc_microseconds = AV_TIME_BASE;

// av_dump and friends would write to stderr for every odd file.
static inline void tc_quiet(void) { av_log_set_level(AV_LOG_QUIET); }

#endif
