#!/usr/bin/env python3
"""How long a cancel takes at any moment of an export, and what is left then.

usage: cancel_moments.py [--programs DIR] [--count N] [--seed N] [--only film,copy,photo,log,pictures] [--bound MS]

A film of 20 s in full HD, a copy of a large film, a photo of 50 megapixels, a sparse log of 2 GB, and nine photos at once
go through an engine again and again; each is canceled at a random moment, many of them near the start (the file is looked
at) and near the end (the index moves to the front, the file is made durable). Printed: the slowest and the usual answer.
Exit status 0 if every answer came within --bound, and nothing was left in the folder of exports when it was there.
"""
import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Servers"))
from engine_client import EngineProcess, RemoteError  # noqa: E402


def ffmpeg(*words):
    subprocess.run(["ffmpeg", "-v", "error", "-y", *[str(word) for word in words]], check=True, stdin=subprocess.DEVNULL)


def make(name, folder):
    """- Returns the kind of task, and its files."""
    if name == "film":
        path = folder / "film.mkv"
        ffmpeg("-f", "lavfi", "-i", "testsrc2=s=1920x1080:r=30:d=20", "-c:v", "mpeg4", "-q:v", "4", path)
        return "chatVideo", [path]
    if name == "copy":
        path = folder / "copy.mp4"
        ffmpeg("-f", "lavfi", "-i", "testsrc2=s=1280x720:r=30:d=4,noise=alls=60:allf=t", "-c:v", "libx264", "-preset",
               "ultrafast", "-pix_fmt", "yuv420p", "-crf", "12", path)
        return "chatVideo", [path]
    if name == "log":
        path = folder / "app.log"
        with path.open("wb") as file:
            file.write(b"begin\n")
            file.truncate(2 << 30)
        return "log", [path]
    count, size = (1, "8192x6144") if name == "photo" else (9, "4032x3024")
    paths = [folder / f"{name}-{index}.jpg" for index in range(count)]
    for index, path in enumerate(paths):
        ffmpeg("-f", "lavfi", "-i", f"testsrc2=s={size},noise=alls={20 + index}", "-frames:v", "1", "-pix_fmt", "yuvj420p", "-q:v", "3", path)
    return "feedPost", paths


def moment(whole, dice):
    """Seconds after the submission."""
    where = dice.random()
    if where < 0.2:
        return dice.random() * min(0.15, whole)
    return whole * dice.uniform(0.85, 1) if where < 0.5 else whole * dice.random()


class Cancels:
    def __init__(self, programs, folder):
        self.exports = folder / "store" / "exports"
        config = folder / "config.json"
        config.write_text('{"kinds": {"chatVideo": {"limit": 524288000, "hardLimit": 1048576000}}}')
        self.engine = EngineProcess([str(programs / "taskcenterd"), "--store", str(folder / "store"), "--config", str(config)],
                                    os.environ | {"HOME": str(folder)}, str(folder / "engine.log"))

    def submit(self, kind, paths):
        source = [{"source": {"paths": [str(path)]} if kind == "log" else {"path": str(path)}} for path in paths]
        return self.engine.call("task/submit", {"kind": kind, "resources": source})["task"]["id"]

    def whole(self, kind, paths):
        begin = time.monotonic()
        task = self.submit(kind, paths)
        state = self.engine.call("task/wait", {"id": task, "timeoutMs": 300_000}, 310)["task"]
        if state["state"] != "sent":
            sys.exit(f"{kind} is {state['state']}: {state.get('failure')}")
        return time.monotonic() - begin

    def cancel(self, kind, paths, after):
        """- Returns milliseconds, and the names of what was left; None where it was done before."""
        task = self.submit(kind, paths)
        time.sleep(after)
        begin = time.monotonic()
        try:
            self.engine.call("task/cancel", {"id": task}, 60)
        except RemoteError:
            return None
        took = (time.monotonic() - begin) * 1000
        return took, sorted(os.listdir(self.exports))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, default=HERE.parent.parent / ".build" / "release")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="film,copy,photo,log,pictures")
    parser.add_argument("--bound", type=float, default=200)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="taskcenter-cancel-"))
    is_well = True
    cancels = Cancels(options.programs, folder)
    try:
        for name in options.only.split(","):
            kind, paths = make(name, folder)
            whole = cancels.whole(kind, paths)
            dice = random.Random(options.seed)
            times, left, late = [], [], 0
            for _ in range(options.count):
                after = moment(whole, dice)
                found = cancels.cancel(kind, paths, after)
                if found is None:
                    late += 1
                    continue
                times.append((found[0], after))
                left += found[1]
            slowest = max(times, default=(0, 0))
            is_well &= slowest[0] <= options.bound and not left
            print(f"{name}: {whole:.2f} s whole; {len(times)} cancels, {late} too late; usually "
                  f"{statistics.median(took for took, _ in times):.1f} ms, slowest {slowest[0]:.1f} ms ({slowest[1]:.2f} s after "
                  f"the submission); left: {left or 'nothing'}", flush=True)
    finally:
        cancels.engine.kill()
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
