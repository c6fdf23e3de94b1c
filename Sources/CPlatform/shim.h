#pragma once
#include <linux/fs.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <pthread.h>
#include <sched.h>

// glibc shows these only with _GNU_SOURCE, which can't be set for modules that Swift has built already.
extern ssize_t copy_file_range(int in, off_t *in_offset, int out, off_t *out_offset, size_t count, unsigned flags);
extern int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
extern int pthread_setname_np(pthread_t thread, const char *name);
extern int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set);

/// Both at their descriptors' own positions. See copy_file_range(2).
static inline ssize_t tc_copy_file_range(int in, int out, size_t count) {
  return copy_file_range(in, 0, out, 0, count, 0);
}
/// FICLONE is a macro of macros. See ioctl_ficlone(2).
static inline int tc_clone_file(int in, int out) { return ioctl(out, FICLONE, in); }
/// Closes every descriptor from `from` on in the child. Since glibc 2.34.
static inline int tc_spawn_close_from(posix_spawn_file_actions_t *actions, int from) {
  return posix_spawn_file_actions_addclosefrom_np(actions, from);
}
/// Processors that this process may run on; -1 where there are more than a set holds. See sched_getaffinity(2).
static inline int tc_usable_cores(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return -1;
  int count = 0;
  for (size_t i = 0; i < sizeof set / sizeof set.__bits[0]; i++) count += __builtin_popcountl(set.__bits[i]);
  return count;
}
static inline void tc_set_thread_name(const char *name) { pthread_setname_np(pthread_self(), name); }

/// The next caller's descriptor, closed on exec. See accept4(2).
static inline int tc_accept(int listener) { return accept4(listener, 0, 0, SOCK_CLOEXEC); }
/// The user at the other end of a Unix socket, or -1. `struct ucred` of unix(7), which also needs _GNU_SOURCE.
static inline long tc_peer_user(int socket) {
  struct { pid_t pid; uid_t uid; gid_t gid; } credentials;
  socklen_t length = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
  return (long)credentials.uid;
}
