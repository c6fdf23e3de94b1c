// The media worker: the only program that links FFmpeg, libvips and libarchive. A hostile file can only ever kill this
// process. The engine starts it with a Unix socket as descriptor 0 and sends orders (ExportProtocol); to cancel, it kills.
import ExportProtocol
import Glibc
import MediaExport
import Platform
import Sandbox
import TaskModel

let arguments: Arguments
do throws(Arguments.Problem) {
  arguments = try Arguments(SystemProcess.arguments)
} catch {
  Worker.complain("taskcenter-export: \(error.message)\n\(Arguments.usage)")
  exit(64)
}

ResourceLimits.enter(memory: arguments.memoryLimit)
var channel: Int32?
if case .worker = arguments.mode {
  channel = Worker.moveChannelAside()
  // What libvips puts aside because it is large goes where it may write.
  setenv("TMPDIR", arguments.folder, 1)
}
if !arguments.servesArchives {
  do throws(Failure) {
    try MediaLibraries.prepare()
  } catch {
    Worker.complain("taskcenter-export: \(error.message)")
    exit(70)
  }
}
switch arguments.mode {
case .worker:
  guard let channel else {
    Worker.complain("taskcenter-export: descriptor 0 is not open")
    exit(64)
  }
  guard Worker.announce(in: arguments.folder) else {
    // Somebody is just sweeping it: this worker's engine is not its owner any more.
    Worker.complain("taskcenter-export: \(arguments.folder) can't be locked: \(String(cString: strerror(errno)))")
    exit(75)
  }
  do throws(SandboxError) {
    let lacking = try Confinement(folder: arguments.folder, readsAnything: arguments.servesArchives).enter()
    if arguments.tellsLacks {
      for lack in lacking { Worker.complain("taskcenter-export: \(lack)") }
    }
  } catch {
    Worker.complain("taskcenter-export: the sandbox can't be entered: \(error)")
    exit(70)
  }
  let allowed = AllowedOrders(folder: arguments.folder, archives: arguments.servesArchives)
  exit(Worker.serve(channel, allowed, processorTime: arguments.processorTime))
case .one(let job, let inputs, let output, let plansOnly):
  exit(OneShot.run(job, inputs: inputs, output: output, plansOnly: plansOnly))
}
