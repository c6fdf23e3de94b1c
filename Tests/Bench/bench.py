#!/usr/bin/env python3
"""`make bench`: how fast the engine starts, answers, exports and uploads, beside programs that people know.

Prints tables, and with --output puts each between its marks on that page. Contenders take turns, so that a busy moment
hits them all; figures are medians. A part whose programs are missing is left out, with a message; no figure is made up.
"""
import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

import image_part
import kills_part
import ladder_part
import machine
import many_part
import rpc_part
import s3_part
import tus_part
import upload_part
import video_part

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / ".build"

# By name: title, the contender, the module (`missing()` names programs that it lacks), the bytes of its files where they
# belong into memory (0: on disk), and what measures.
PARTS = {
    "rpc": ("Start, memory, round trip", "deltachat-rpc-server", rpc_part, lambda options: 0,
            lambda options, work: rpc_part.measure(options.programs, BUILD, work)),
    "video": ("Videos, same settings", "ffmpeg", video_part, lambda options: 0,
              lambda options, work: video_part.measure(options.programs, work)),
    "ladder": ("Chat videos that have to fit", "encode, look, next rung", ladder_part, lambda options: 0,
               lambda options, work: ladder_part.measure(options.programs, work, options.clips)),
    "image": ("Pictures", "vipsthumbnail", image_part, lambda options: 256 << 20,
              lambda options, work: image_part.measure(options.programs, work)),
    "upload": ("Upload of one large file", "curl -T, openssl", upload_part, lambda options: options.size,
               lambda options, work: upload_part.measure(options.programs, work, options.size)),
    "many": ("Uploads of many small files", "curl -Z --parallel-max 3", many_part, lambda options: 256 << 20,
             lambda options, work: many_part.measure(options.programs, work)),
    "kills": ("What goes up again after kill -9", "one part for each open connection", kills_part,
              lambda options: options.size, lambda options, work: kills_part.measure(options.programs, work, options.size)),
    # Tables of its own: several programs stand side by side.
    "s3": (None, None, s3_part, lambda options: options.size,
           lambda options, work: s3_part.measure(options.programs, work, options.size,
                                                 where(work))),
    "tus": (None, None, tus_part, lambda options: options.size,
            lambda options, work: tus_part.measure(options.programs, BUILD, work, options.size, where(work))),
}


def where(work):
    return "in memory" if work.is_relative_to("/dev/shm") else "on disk"


def figure(value, unit):
    return "–" if value is None else f"{value:.2f} {unit}" if value < 100 else f"{value:.0f} {unit}"


def table(title, other, rows):
    lines = [f"### {title}", "", f"| | taskcenter | {other} | ratio |", "|---|---|---|---|"]
    for text, ours, theirs, unit in rows:
        ratio = f"{ours / theirs:.2f}" if ours is not None and theirs else "–"
        lines.append(f"| {text} | {figure(ours, unit)} | {figure(theirs, unit)} | {ratio} |")
    return "\n".join(lines)


def work_folder(given, size):
    """Memory-backed for large files, where there is room: the disk's mood would be measured otherwise."""
    memory = Path("/dev/shm")
    has_room = size and memory.is_dir() and shutil.disk_usage(memory).free > 6 * size
    return Path(tempfile.mkdtemp(prefix="taskcenter-bench-", dir=given or (memory if has_room else BUILD)))


def run(name, options):
    """- Returns the part's text, or None where it can't be measured here."""
    title, other, module, size, measure = PARTS[name]
    missing = getattr(module, "missing", lambda: [])()
    if missing:
        print(f"skipped: {name} needs {', '.join(missing)}", file=sys.stderr)
        return None
    pressure = machine.cpu_pressure()
    work = work_folder(options.work, size(options))
    try:
        found = measure(options, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return f"{found if isinstance(found, str) else table(title, other, found)}\n\nMeasured {machine.describe()}; CPU pressure before {pressure} %."


def write(page, name, text):
    whole = page.read_text(encoding="utf-8")
    begin, end = f"<!-- bench:{name}:begin -->", f"<!-- bench:{name}:end -->"
    if begin not in whole or end not in whole:
        sys.exit(f"{page} has no marks {begin} and {end}")
    block = f"{begin}\n{text}\n{end}"
    page.write_text(re.sub(f"{begin}.*?{end}", lambda _: block, whole, flags=re.DOTALL), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, action="append", help="this part; may be given several times")
    parser.add_argument("--size", type=int, default=1 << 30, help="bytes of the large file")
    parser.add_argument("--clips", type=int, help="the ladder part only with its first so many clips")
    parser.add_argument("--work", type=Path, help="folder for the files (default: memory if there is room, else .build)")
    parser.add_argument("--programs", type=Path, default=BUILD / "release")
    parser.add_argument("--output", type=Path, help="Markdown page with the marks")
    options = parser.parse_args()
    if not (options.programs / "taskcenterd").exists():
        sys.exit("taskcenterd is not built yet: run `make build`")
    for name in options.only or PARTS:
        text = run(name, options)
        if text:
            print(text, end="\n\n", flush=True)
            if options.output:
                write(options.output, name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
