// taskcenter, the thin client: one subcommand, one file.
import Glibc
import JSONRPC

signal(SIGPIPE, SIG_IGN)
exit(CommandLineTool.run(Array(CommandLine.arguments.dropFirst())))
