#pragma once
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <pthread.h>

// glibc shows these two only with _GNU_SOURCE, which can't be set for modules that Swift has built already.
extern ssize_t copy_file_range(int in, off_t *in_offset, int out, off_t *out_offset, size_t count, unsigned flags);
extern int pthread_setname_np(pthread_t thread, const char *name);

/// Both at their descriptors' own positions. See copy_file_range(2).
static inline ssize_t tc_copy_file_range(int in, int out, size_t count) {
  return copy_file_range(in, 0, out, 0, count, 0);
}
/// FICLONE is a macro of macros. See ioctl_ficlone(2).
static inline int tc_clone_file(int in, int out) { return ioctl(out, FICLONE, in); }
static inline void tc_set_thread_name(const char *name) { pthread_setname_np(pthread_self(), name); }
