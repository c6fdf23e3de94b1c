"""Nine 12-megapixel photos through two workers, as the engine does it by default, and through one, beside nine runs of
`vipsthumbnail` (libvips's own program); and how long one small JPEG takes from the start of a worker, and in one that
runs."""
import json
import os
import shutil
import socket
import statistics
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

PHOTOS = 9
STARTS = 15
ROUNDS = 3
# The same size, quality and thrift as the worker's; "down only" is what > says.
VIPS_SIZE, VIPS_OUTPUT = "2048x2048>", "[Q=82,strip]"


class Worker:
    """taskcenter-export as the engine starts it: its end of a socket is descriptor 0."""

    def __init__(self, program, folder):
        self.folder = folder
        ours, theirs = socket.socketpair()
        self.process = subprocess.Popen([program, "--folder", str(folder)], stdin=theirs, stderr=subprocess.DEVNULL)
        theirs.close()
        self.socket = ours
        self.lines = ours.makefile("rb")
        self.last_id = 0

    def export(self, source, long_edge=2048):
        """- Returns the final report; raises where it is none of success."""
        self.last_id += 1
        output = self.folder / f"{self.process.pid}-{self.last_id}.part"
        order = {"id": self.last_id, "job": "image", "longEdge": long_edge, "quality": 82, "cropSquare": False,
                 "format": "jpeg", "name": source.name, "output": str(output)}
        with source.open("rb") as file:
            socket.send_fds(self.socket, [json.dumps(order).encode() + b"\n"], [file.fileno()])
        while True:
            report = json.loads(self.lines.readline())
            if report["report"] == "done":
                return report
            if report["report"] == "failed":
                raise RuntimeError(report["message"])

    def cpu_seconds(self):
        """Of all its threads, also those that have ended."""
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_mib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM:"))

    def close(self):
        self.lines.close()
        self.socket.close()
        self.process.wait(10)


def missing():
    return [name for name in ("ffmpeg", "vipsthumbnail") if not shutil.which(name)]


def make_photos(folder):
    """Detail at every scale and sensor noise: 4 to 10 MB each, as phones write them."""
    photos = [folder / f"photo-{index}.jpg" for index in range(PHOTOS)]
    for index, photo in enumerate(photos):
        picture = (f"mandelbrot=s=1008x756:maxiter=300:start_x=-0.74{index}:start_scale={3 - index * 0.2},"
                   f"scale=4032:3024:flags=bicubic,noise=alls={8 + index}:all_seed={index + 1}")
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", picture, "-frames:v", "1", "-pix_fmt",
                        "yuvj420p", "-qmin", "1", "-q:v", "1", str(photo)], check=True, stdin=subprocess.DEVNULL)
    small = folder / "small.jpg"
    subprocess.run(["vipsthumbnail", photos[0], "-s", "1280x1280>", "-o", f"{small}[Q=75,strip]"], check=True)
    return photos, small


def vipsthumbnail(source, output):
    """- Returns CPU seconds, wall seconds and peak MiB of one run."""
    begin = time.perf_counter()
    process = subprocess.Popen(["vipsthumbnail", source, "-s", VIPS_SIZE, "-o", f"{output}{VIPS_OUTPUT}"])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        raise RuntimeError("vipsthumbnail failed")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - begin, usage.ru_maxrss / 1024


def nine_by_workers(program, folder, photos, count, warm=True):
    """- Returns CPU seconds, wall seconds and peak MiB of so many workers that share the photos."""
    begin = time.perf_counter()
    workers = [Worker(program, folder) for _ in range(count)]
    cpu = 0
    try:
        if warm:
            for worker in workers:
                worker.export(photos[0], long_edge=64)
            cpu = sum(worker.cpu_seconds() for worker in workers)
            begin = time.perf_counter()
        left = iter(photos)
        lock = Lock()

        def take(worker):
            while True:
                with lock:
                    photo = next(left, None)
                if photo is None:
                    return
                worker.export(photo)

        with ThreadPoolExecutor(count) as pool:
            list(pool.map(take, workers))
        wall = time.perf_counter() - begin
        return (sum(worker.cpu_seconds() for worker in workers) - cpu, wall, sum(worker.peak_mib() for worker in workers))
    finally:
        for worker in workers:
            worker.close()


def nine_by_vips(folder, photos):
    runs = [vipsthumbnail(photo, folder / f"theirs-{photo.name}") for photo in photos]
    return sum(run[0] for run in runs), sum(run[1] for run in runs), max(run[2] for run in runs)


def one_start(program, folder, small):
    """- Returns seconds from before the start until the small picture is there, and then again."""
    begin = time.perf_counter()
    worker = Worker(program, folder)
    try:
        worker.export(small)
        cold = time.perf_counter() - begin
        begin = time.perf_counter()
        worker.export(small)
        return cold, time.perf_counter() - begin
    finally:
        worker.close()


def measure(programs, work):
    """- Returns the rows of the table: what, ours, vipsthumbnail's (None where there is none), unit."""
    program = programs / "taskcenter-export"
    photos, small = make_photos(work)
    one, two, begun, theirs = [], [], [], []
    for _ in range(ROUNDS):
        two.append(nine_by_workers(program, work, photos, 2))
        theirs.append(nine_by_vips(work, photos))
        begun.append(nine_by_workers(program, work, photos, 2, warm=False))
        one.append(nine_by_workers(program, work, photos, 1))
    cold, warm, alone = [], [], []
    for _ in range(STARTS):
        first, second = one_start(program, work, small)
        cold.append(first * 1000)
        warm.append(second * 1000)
        alone.append(vipsthumbnail(small, work / "theirs-small.jpg")[1] * 1000)

    def median(runs, index):
        return statistics.median(run[index] for run in runs)

    size = sum(photo.stat().st_size for photo in photos) / len(photos) / 1e6
    what = f"{PHOTOS} photos of 12 Mpx and {size:.1f} MB → 2048"
    return [(f"{what}, CPU", median(two, 0), median(theirs, 0), "s"),
            ("same, wall", median(two, 1), median(theirs, 1), "s"),
            ("same, peak memory of both workers", median(two, 2), median(theirs, 2), "MiB"),
            ("same, wall, workers started for it", median(begun, 1), median(theirs, 1), "s"),
            ("same, wall, one worker (`exports.picturesPerSlot` 1)", median(one, 1), median(theirs, 1), "s"),
            ("same, peak memory, one worker", median(one, 2), median(theirs, 2), "MiB"),
            (f"start → one JPEG of {small.stat().st_size // 1000} kB exported", statistics.median(cold),
             statistics.median(alone), "ms"),
            ("same, in a worker that runs", statistics.median(warm), statistics.median(alone), "ms")]
