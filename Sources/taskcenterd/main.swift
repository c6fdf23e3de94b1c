// taskcenterd, the engine: JSON-RPC 2.0 on stdin and stdout, everything else on stderr.
import Dispatch
import Glibc
import Platform
import TaskService

// A reader that has gone is an error of the write, not the end of the process.
signal(SIGPIPE, SIG_IGN)

let options: Options
do {
  options = try Options(SystemProcess.arguments)
} catch {
  complain("taskcenterd: \(error.message)\n\n\(Options.usage)")
  exit(64)
}
if options.wantsHelp || options.wantsVersion {
  print(options.wantsHelp ? Options.usage : "taskcenterd \(Service.version)")
  exit(0)
}

// The real stdout moves aside and descriptor 1 becomes stderr, so that no stray print can break the protocol.
let realOutput = OpenFile(owning: fcntl(1, F_DUPFD_CLOEXEC, 3))
dup2(2, 1)

let log = StderrLog.make(level: options.logLevel, json: options.logsJSON)
let ending = Ending(linger: options.linger, log: log)
let signals = ending.listen(to: [SIGTERM, SIGINT])

let reload: any DispatchSourceSignal
do {
  reload = try Launch(options: options, environment: Environment.current, output: realOutput, log: log).start(
    ending: ending)
} catch let refusal as Launch.Refusal {
  complain("taskcenterd: \(refusal.message)")
  exit(refusal.status)
} catch {
  complain("taskcenterd: \(error)")
  exit(70)
}
dispatchMain()
