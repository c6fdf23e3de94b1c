#!/usr/bin/env python3
"""`make bench`: how fast the engine starts, answers and uploads, beside programs that people know.

usage: bench.py [--only rpc|upload|s3] [--size BYTES] [--work DIR] [--output docs/benchmarks.md]
Prints a table, and with --output puts it between the marks of that page. Contenders take turns, so that a busy moment
hits them all; figures are medians. A part whose programs are missing is left out, with a message; no figure is made up.
"""
import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

import machine
import rpc_part
import s3_part
import upload_part

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"


def figure(value, unit):
    return "–" if value is None else f"{value:.2f} {unit}" if value < 100 else f"{value:.0f} {unit}"


def table(title, other, rows):
    lines = [f"### {title}", "", f"| | taskcenterd | {other} | ratio |", "|---|---|---|---|"]
    for text, ours, theirs, unit in rows:
        ratio = f"{ours / theirs:.2f}" if ours is not None and theirs else "–"
        lines.append(f"| {text} | {figure(ours, unit)} | {figure(theirs, unit)} | {ratio} |")
    return "\n".join(lines)


def work_folder(given, size):
    """Memory-backed where there is room: the disk's mood would be measured otherwise."""
    memory = Path("/dev/shm")
    has_room = memory.is_dir() and shutil.disk_usage(memory).free > 6 * size
    return Path(tempfile.mkdtemp(prefix="taskcenter-bench-", dir=given or (memory if has_room else ROOT / ".build")))


def run(options):
    parts = [f"Measured {machine.describe()}; CPU pressure before {machine.cpu_pressure()} %."]
    if options.only in (None, "rpc"):
        work = Path(tempfile.mkdtemp(prefix="bench-", dir=ROOT / ".build"))
        try:
            rows = rpc_part.measure(options.programs, ROOT / ".build", work)
            parts.append(table("Start, memory, round trip", "deltachat-rpc-server", rows))
        finally:
            shutil.rmtree(work, ignore_errors=True)
    if options.only in (None, "upload"):
        missing = upload_part.missing()
        if missing:
            print(f"skipped: the upload part needs {', '.join(missing)}", file=sys.stderr)
            parts.append(f"The upload was not measured: {', '.join(missing)} missing.")
        else:
            work = work_folder(options.work, options.size)
            try:
                rows = upload_part.measure(options.programs, work, options.size)
                where = "in memory" if work.is_relative_to("/dev/shm") else "on disk"
                parts.append(table(f"Upload (all files {where})", "curl -T, openssl", rows))
            finally:
                shutil.rmtree(work, ignore_errors=True)
    if options.only in (None, "s3"):
        missing = s3_part.missing()
        if missing:
            print(f"skipped: the S3 part needs {', '.join(missing)}", file=sys.stderr)
            parts.append(f"Multipart was not measured: {', '.join(missing)} missing.")
        else:
            work = work_folder(options.work, options.size)
            try:
                where = "in memory" if work.is_relative_to("/dev/shm") else "on disk"
                parts.append(s3_part.measure(options.programs, work, options.size, where))
            finally:
                shutil.rmtree(work, ignore_errors=True)
    return "\n\n".join(parts)


def write(page, text):
    whole = page.read_text(encoding="utf-8")
    if BEGIN not in whole or END not in whole:
        sys.exit(f"{page} has no marks {BEGIN} and {END}")
    block = f"{BEGIN}\n{text}\n{END}"
    page.write_text(re.sub(f"{BEGIN}.*?{END}", lambda _: block, whole, flags=re.DOTALL), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("rpc", "upload", "s3"))
    parser.add_argument("--size", type=int, default=1 << 30, help="bytes of the large file")
    parser.add_argument("--work", type=Path, help="folder for the upload part (default: memory if there is room)")
    parser.add_argument("--programs", type=Path, default=ROOT / ".build" / "release")
    parser.add_argument("--output", type=Path, help="Markdown page with the marks")
    options = parser.parse_args()
    if not (options.programs / "taskcenterd").exists():
        sys.exit("taskcenterd is not built yet: run `make build`")
    text = run(options)
    print(text)
    if options.output:
        write(options.output, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
