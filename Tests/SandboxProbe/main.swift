// Tries what a stranger's file might make a worker try, and says of each attempt whether it worked. SandboxTests runs it
// with and without the sandbox: without it everything works, which shows that the attempts are real.
//
// usage: sandbox-probe none|media|archives|limits FOLDER OUTSIDE     (descriptor 0 is an open file)
import Glibc
import Sandbox

let words = CommandLine.arguments
guard words.count == 4 else { exit(64) }
let (mode, folder, outside) = (words[1], words[2], words[3])

func say(_ text: String) {
  let line = Array((text + "\n").utf8)
  _ = write(1, line, line.count)
}

/// - Parameter body: negative where it did not work, with errno.
func attempt(_ what: String, _ body: () -> Int) {
  errno = 0
  let worked = body() >= 0
  say("\(what): \(worked ? "works" : String(cString: strerror(errno)))")
}

func opening(_ path: String, _ flags: Int32) -> Int {
  let file = open(path, flags | O_CLOEXEC, 0o600)
  if file >= 0 { close(file) }
  return Int(file)
}

/// Outside of the main actor, to which this file belongs.
nonisolated func threadBody(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? { nil }

if mode == "limits" {
  let file = open(folder + "/limited", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
  let bytes = [UInt8](repeating: 0, count: 1 << 16)
  ResourceLimits.enter(memory: nil)
  ResourceLimits.setLargestFile(1 << 16)
  attempt("write up to the limit") { write(file, bytes, bytes.count) }
  attempt("write beyond the limit") { write(file, bytes, bytes.count) }
  ResourceLimits.setLargestFile(nil)
  attempt("write when it is lifted") { write(file, bytes, bytes.count) }
  attempt("hold many files") { (0..<100).allSatisfy { _ in dup(0) >= 0 } ? 0 : -1 }
  exit(0)
}
if mode != "none" {
  do throws(SandboxError) {
    for lack in try Confinement(folder: folder, readsAnything: mode == "archives").enter() { say("lacking: \(lack)") }
  } catch {
    say("error: \(error)")
    exit(70)
  }
}

attempt("read the input") {
  var byte: UInt8 = 0
  return pread(0, &byte, 1, 0)
}
attempt("write in the folder") { opening(folder + "/new", O_WRONLY | O_CREAT) }
attempt("read in the folder") { opening(folder + "/new", O_RDONLY) }
attempt("truncate in the folder") { opening(folder + "/new", O_WRONLY | O_TRUNC) }
attempt("remove in the folder") { Int(unlink(folder + "/new")) }
attempt("start a thread") {
  var thread = pthread_t()
  errno = pthread_create(&thread, nil, threadBody, nil)
  return errno == 0 && pthread_join(thread, nil) == 0 ? 0 : -1
}
attempt("read /etc/passwd") { opening("/etc/passwd", O_RDONLY) }
attempt("read a file outside") { opening(outside + "/secret", O_RDONLY) }
attempt("list a folder outside") { opening(outside, O_RDONLY | O_DIRECTORY) }
attempt("write outside") { opening(outside + "/new", O_WRONLY | O_CREAT) }
attempt("overwrite outside") { opening(outside + "/secret", O_WRONLY) }
attempt("truncate outside") { Int(truncate(outside + "/secret", 6)) }
attempt("make a folder outside") { Int(mkdir(outside + "/folder", 0o700)) }
attempt("remove outside") { Int(unlink(outside + "/spare")) }
attempt("open a socket") {
  let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  if made >= 0 { close(made) }
  return Int(made)
}
attempt("change the mode of a file outside") { Int(chmod(outside + "/secret", 0o600)) }
attempt("change the mode of the input") { Int(fchmod(0, 0o600)) }
attempt("start a program") {
  var child: pid_t = 0
  var words: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
  errno = posix_spawn(&child, "/bin/true", nil, nil, &words, nil)
  guard errno == 0 else { return -1 }
  waitpid(child, nil, 0)
  return 0
}
attempt("signal another process") { Int(kill(getppid(), 0)) }
attempt("signal itself") { Int(kill(getpid(), 0)) }
attempt("become another program") {
  var words: [UnsafeMutablePointer<CChar>?] = [strdup("echo"), strdup("become another program: works"), nil]
  return Int(execv("/bin/echo", &words))
}
