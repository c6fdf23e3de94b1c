// Landlock and seccomp have no wrappers in the C library. Landlock's numbers are those of <linux/landlock.h>, said here
// because the headers of the machine that builds may be older than the kernel of the machine that runs.
#pragma once
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// MARK: Landlock (landlock(7)); the three calls have the same numbers on every architecture.

/// The version of the interface, or -1 with errno.
static inline int tc_landlock_version(void) { return (int)syscall(444, NULL, 0, 1); }

/// - Returns: a descriptor, or -1. A kernel that knows a shorter structure takes this one while the rest is zero.
static inline int tc_landlock_create(uint64_t files, uint64_t network, uint64_t scopes) {
  const struct { uint64_t files, network, scopes; } attributes = {files, network, scopes};
  return (int)syscall(444, &attributes, sizeof attributes, 0);
}

static inline int tc_landlock_allow(int ruleset, uint64_t access, int folder) {
  const struct { uint64_t access; int32_t folder; } __attribute__((packed)) rule = {access, folder};
  return (int)syscall(445, ruleset, 1, &rule, 0);
}

static inline int tc_landlock_enter(int ruleset) { return (int)syscall(446, ruleset, 0); }

/// O_PATH, which open(2) shows only with _GNU_SOURCE.
static const int tc_open_path = 0x200000;

// MARK: seccomp (seccomp(2))

static inline int tc_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

/// For every thread of this process.
/// - Returns: 0; -1 with errno; or the number of a thread that could not follow.
static inline int tc_seccomp_enter(struct sock_filter *instructions, unsigned short count) {
  struct sock_fprog program = {count, instructions};
  return (int)syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

/// What `seccomp_data.arch` is here; 0 where we have no filter.
static inline uint32_t tc_seccomp_architecture(void) {
#if defined(__x86_64__)
  return AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
  return AUDIT_ARCH_AARCH64;
#else
  return 0;
#endif
}

/// Calls from this number on are another convention of the same architecture (x32); 0 where there is none.
static inline uint32_t tc_seccomp_first_foreign_call(void) {
#if defined(__x86_64__)
  return 0x40000000;
#else
  return 0;
#endif
}

static const uint32_t tc_seccomp_allow = SECCOMP_RET_ALLOW;
static const uint32_t tc_seccomp_kill = SECCOMP_RET_KILL_PROCESS;
static inline uint32_t tc_seccomp_error(uint32_t number) { return SECCOMP_RET_ERRNO | (number & SECCOMP_RET_DATA); }

static const uint32_t tc_bpf_load = BPF_LD | BPF_W | BPF_ABS;
static const uint32_t tc_bpf_if_equal = BPF_JMP | BPF_JEQ | BPF_K;
static const uint32_t tc_bpf_if_at_least = BPF_JMP | BPF_JGE | BPF_K;
static const uint32_t tc_bpf_if_set = BPF_JMP | BPF_JSET | BPF_K;
static const uint32_t tc_bpf_return = BPF_RET | BPF_K;

static const uint32_t tc_call_clone = __NR_clone;
static const uint32_t tc_call_clone3 = 435;
static const uint32_t tc_call_kill = __NR_kill;
static const uint32_t tc_call_tgkill = __NR_tgkill;
static const uint32_t tc_call_prlimit = __NR_prlimit64;
static const uint32_t tc_call_ioctl = __NR_ioctl;
/// CLONE_THREAD of <sched.h>, which also needs _GNU_SOURCE.
static const uint32_t tc_clone_thread = 0x00010000;
/// Both put characters into a terminal's input, as if a person had typed them.
static const uint32_t tc_tiocsti = 0x5412;
static const uint32_t tc_tioclinux = 0x541C;

/// Calls that nothing which makes an export has a use for. Old ones are missing on aarch64, new ones in old headers.
static const int tc_denied_calls[] = {
    // The network, in whatever family, and a way around this filter (io_uring).
    __NR_socket, __NR_socketpair, __NR_connect, __NR_bind, __NR_listen, __NR_accept, __NR_accept4,
    425 /* io_uring_setup */, 426 /* io_uring_enter */, 427 /* io_uring_register */,
    // Other programs. clone without CLONE_THREAD is refused apart from these.
    __NR_execve, __NR_execveat,
#ifdef __NR_fork
    __NR_fork, __NR_vfork,
#endif
    // Other processes.
    __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, __NR_kcmp, __NR_tkill, __NR_rt_sigqueueinfo,
    __NR_rt_tgsigqueueinfo, 424 /* pidfd_send_signal */, 434 /* pidfd_open */, 438 /* pidfd_getfd */,
    440 /* process_madvise */, __NR_migrate_pages, __NR_move_pages,
    // Files past their paths, and what Landlock does not watch: modes, owners, times, attributes.
    __NR_open_by_handle_at, __NR_name_to_handle_at, __NR_truncate, __NR_fchmod, __NR_fchmodat, 452 /* fchmodat2 */,
    __NR_fchown, __NR_fchownat, __NR_utimensat, __NR_setxattr, __NR_lsetxattr, __NR_fsetxattr, __NR_removexattr,
    __NR_lremovexattr, __NR_fremovexattr,
#ifdef __NR_chmod
    __NR_chmod, __NR_chown, __NR_lchown, __NR_utime, __NR_utimes, __NR_futimesat, __NR_mknod,
#endif
    __NR_mknodat,
    // Where file systems are.
    __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, __NR_unshare, __NR_setns, 428 /* open_tree */,
    429 /* move_mount */, 430 /* fsopen */, 431 /* fsconfig */, 432 /* fsmount */, 433 /* fspick */,
    442 /* mount_setattr */,
    // Parts of the kernel that are known for their bugs.
    __NR_bpf, __NR_perf_event_open, __NR_userfaultfd, __NR_add_key, __NR_request_key, __NR_keyctl, __NR_shmget,
    __NR_shmat, __NR_msgget, __NR_semget, __NR_mq_open, __NR_quotactl, __NR_syslog, __NR_acct,
    // The machine.
    __NR_init_module, __NR_finit_module, __NR_delete_module, __NR_kexec_load, __NR_reboot, __NR_swapon, __NR_swapoff,
    __NR_settimeofday, __NR_clock_settime, __NR_adjtimex, __NR_sethostname, __NR_setdomainname, __NR_vhangup,
#ifdef __NR_iopl
    __NR_iopl, __NR_ioperm, __NR_modify_ldt,
#endif
};

/// - Returns: -1 past the end.
static inline int tc_denied_call(size_t index) {
  return index < sizeof tc_denied_calls / sizeof *tc_denied_calls ? tc_denied_calls[index] : -1;
}
