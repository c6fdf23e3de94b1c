import CSandbox
import Glibc

/// Which system calls a process may still make: a program for seccomp(2). What is refused fails with EPERM, so that a
/// library which merely tries goes on without; a call of another architecture's convention ends the process.
struct SystemCallFilter {
  private(set) var instructions: [sock_filter] = []

  /// - Parameter process: the only one that may be sent a signal, or whose limits may be set.
  /// - Returns: nil on an architecture for which the numbers are not known here.
  init?(process: pid_t) {
    let architecture = tc_seccomp_architecture()
    guard architecture != 0 else { return nil }
    load(Offset.architecture)
    check(tc_bpf_if_equal, architecture, skip: 1)
    answer(tc_seccomp_kill)
    load(Offset.call)
    let foreign = tc_seccomp_first_foreign_call()
    if foreign != 0 {
      check(tc_bpf_if_at_least, foreign, otherwise: 1)
      answer(Self.refused)
    }
    for call in Self.deniedCalls { refuse(call) }
    // Its flags lie in memory, where no filter can look; the C library takes `clone` where this is missing.
    refuse(tc_call_clone3, with: tc_seccomp_error(UInt32(ENOSYS)))
    let process = UInt32(bitPattern: process)
    only(tc_call_clone, whereArgument: 0, [(tc_bpf_if_set, tc_clone_thread)])
    only(tc_call_kill, whereArgument: 0, [(tc_bpf_if_equal, process)])
    only(tc_call_tgkill, whereArgument: 0, [(tc_bpf_if_equal, process)])
    only(tc_call_prlimit, whereArgument: 0, [(tc_bpf_if_equal, 0), (tc_bpf_if_equal, process)])
    for request in [tc_tiocsti, tc_tioclinux] { except(tc_call_ioctl, whereArgument: 1, is: request) }
    answer(tc_seccomp_allow)
  }

  /// - Throws: `SandboxError`.
  /// - Returns: false where the kernel has no seccomp.
  func enter() throws(SandboxError) -> Bool {
    var program = instructions
    let result = program.withUnsafeMutableBufferPointer {
      tc_seccomp_enter($0.baseAddress, UInt16($0.count))
    }
    guard result != 0 else { return true }
    if result < 0, errno == ENOSYS || errno == EINVAL { return false }
    throw SandboxError("seccomp", result < 0 ? errno : ESRCH)
  }

  static var deniedCalls: [UInt32] {
    var calls: [UInt32] = []
    while case let call = tc_denied_call(calls.count), call >= 0 { calls.append(UInt32(call)) }
    return calls
  }

  // MARK: Instructions

  /// In `struct seccomp_data`.
  private enum Offset {
    static let call: UInt32 = 0
    static let architecture: UInt32 = 4
    /// The lower half; both architectures are little-endian.
    static func argument(_ index: UInt32) -> UInt32 { 16 + 8 * index }
  }

  private static let refused = tc_seccomp_error(UInt32(EPERM))

  private mutating func load(_ offset: UInt32) {
    instructions.append(sock_filter(code: UInt16(tc_bpf_load), jt: 0, jf: 0, k: offset))
  }

  private mutating func check(_ test: UInt32, _ value: UInt32, skip: UInt8 = 0, otherwise: UInt8 = 0) {
    instructions.append(sock_filter(code: UInt16(test), jt: skip, jf: otherwise, k: value))
  }

  private mutating func answer(_ verdict: UInt32) {
    instructions.append(sock_filter(code: UInt16(tc_bpf_return), jt: 0, jf: 0, k: verdict))
  }

  private mutating func refuse(_ call: UInt32, with verdict: UInt32 = refused) {
    check(tc_bpf_if_equal, call, otherwise: 1)
    answer(verdict)
  }

  /// Allows a call where one of the tests holds for its argument.
  private mutating func only(_ call: UInt32, whereArgument index: UInt32, _ tests: [(UInt32, UInt32)]) {
    check(tc_bpf_if_equal, call, otherwise: UInt8(tests.count + 3))
    load(Offset.argument(index))
    for (place, test) in tests.enumerated() { check(test.0, test.1, skip: UInt8(tests.count - place)) }
    answer(Self.refused)
    answer(tc_seccomp_allow)
  }

  private mutating func except(_ call: UInt32, whereArgument index: UInt32, is value: UInt32) {
    check(tc_bpf_if_equal, call, otherwise: 4)
    load(Offset.argument(index))
    check(tc_bpf_if_equal, value, otherwise: 1)
    answer(Self.refused)
    // Another test of the same call may follow, so the call's number goes back to where they look for it.
    load(Offset.call)
  }
}
