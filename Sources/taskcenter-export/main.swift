// The media worker: the only program that links FFmpeg, libvips and libarchive. A hostile file can only ever kill this
// process. The engine starts it with a Unix socket as descriptor 0 and sends orders (ExportProtocol); to cancel, it kills.
import ExportProtocol
import Glibc
import MediaExport
import TaskModel

let arguments: Arguments
do throws(Arguments.Problem) {
  arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
} catch {
  Worker.complain("taskcenter-export: \(error.message)\n\(Arguments.usage)")
  exit(64)
}

Sandbox.enter(memory: arguments.memoryLimit)
var channel: Int32?
if case .worker = arguments.mode {
  channel = Sandbox.moveChannelAside()
}
do throws(Failure) {
  try MediaLibraries.prepare()
} catch {
  Worker.complain("taskcenter-export: \(error.message)")
  exit(70)
}
switch arguments.mode {
case .worker:
  guard let channel else {
    Worker.complain("taskcenter-export: descriptor 0 is not open")
    exit(64)
  }
  exit(Worker.serve(channel))
case .one(let job, let inputs, let output, let plansOnly):
  exit(OneShot.run(job, inputs: inputs, output: output, plansOnly: plansOnly))
}
