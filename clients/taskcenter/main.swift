// taskcenter, the thin client: one subcommand, one file.
import Glibc
import Platform

// A reader that has gone is an error of the write (Terminal.write), not the end of the process.
signal(SIGPIPE, SIG_IGN)
Terminal.fillStandardDescriptors()
exit(CommandLineTool.run(SystemProcess.arguments))
