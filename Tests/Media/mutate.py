#!/usr/bin/env python3
"""Files that are broken at random, through workers that stay warm as the engine's do.

usage: mutate.py WORKER [--count N] [--seed N] [--only SEED[,SEED...]] [--corpus DIR] [--keep DIR] [--check N]

Small films, pictures and sounds of every container are made, and broken: bits, fields, blocks, ends. For each of N broken
files a worker must answer in time, within its memory, in words that a person understands, and leave nothing behind but
what it calls done; what is done must be readable (one of --check results is decoded by ffmpeg or vips). A worker that dies
is reported with its signal, and its file kept in --keep. The same seed makes the same files, also with --only.
Exit status 0 if nothing was wrong.
"""
import argparse
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from check_corpus import check_sentence
from warm_worker import (AUDIO, MEMORY, POSTER, PROBE, THUMBNAIL, Died, Hung, WarmWorker, box, image, ladder, plan)

WORKERS = 2
PATIENCE = 40
CODES = {"damaged", "unsupported", "tooManyPixels", "noVideo", "tooLarge"}
JOBS = {
    "film": [box(), box("never"), ladder(60_000, 120_000), ladder(1 << 22, 1 << 23), POSTER, THUMBNAIL, PROBE, AUDIO,
             plan(box()), plan(ladder(60_000, 120_000))],
    "picture": [image(), image(100), image(64, cropSquare=True), THUMBNAIL, PROBE, plan(image())],
    "sound": [AUDIO, AUDIO, PROBE, plan(AUDIO)],
}
# What could not be encoded as HEIC would cost most of the time.
RARE = {"picture": image(64, format="heic")}

FILM = ["-f", "lavfi", "-i", "testsrc2=s=192x108:r=12:d=1.5", "-f", "lavfi", "-i", "sine=f=500:r=44100:d=1.5,aformat=channel_layouts=stereo"]
MUTE = FILM[:4]
SOUND = FILM[4:]
X264 = ["-c:v", "libx264", "-preset", "veryfast", "-g", "6", "-bf", "2", "-pix_fmt", "yuv420p", "-c:a", "aac"]
HDR = ["-vf", "format=gbrp,zscale=tin=bt709:pin=bt709:min=gbr:rin=pc:t=smpte2084:p=2020:m=2020_ncl:r=tv,format=yuv420p10le",
       "-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error", "-tag:v", "hvc1"]
SEEDS = {
    "film": {
        "h264.mp4": [*FILM, *X264], "front.mp4": [*FILM, *X264, "-movflags", "+faststart"],
        "fragments.mp4": [*FILM, *X264, "-movflags", "frag_keyframe+empty_moov+default_base_moof"],
        "turned.mov": [*FILM, *X264, "-metadata:s:v", "rotate=90"], "h264.mkv": [*FILM, *X264], "h264.ts": [*FILM, *X264],
        "h264.flv": [*FILM, *X264], "hdr.mp4": [*MUTE, *HDR],
        "odd.mp4": [*MUTE, "-vf", "crop=191:107:0:0:exact=1,format=yuv444p", "-c:v", "libx264", "-preset", "veryfast"],
        "interlaced.ts": [*FILM, "-c:v", "mpeg2video", "-flags", "+ilme+ildct", "-c:a", "mp2"],
        "vp9.webm": [*FILM, "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus"],
        "vp8.webm": [*FILM, "-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libvorbis"],
        "av1.mp4": [*MUTE, "-c:v", "libsvtav1", "-preset", "12", "-pix_fmt", "yuv420p"],
        "mpeg4.avi": [*FILM, "-c:v", "mpeg4", "-bf", "2", "-c:a", "libmp3lame"],
        "mjpeg.mov": [*FILM, "-c:v", "mjpeg", "-pix_fmt", "yuvj422p", "-c:a", "pcm_s16le"],
        "prores.mov": [*FILM, "-c:v", "prores_ks", "-profile:v", "0", "-c:a", "alac"],
        "qtrle.mov": [*MUTE, "-c:v", "qtrle", "-pix_fmt", "argb"], "h263.3gp": [*MUTE, "-s", "176x144", "-c:v", "h263"],
        "flv1.flv": [*FILM, "-c:v", "flv", "-c:a", "libmp3lame"], "film.gif": [*MUTE], "theora.ogv": [*FILM, "-c:v", "libtheora", "-c:a", "libvorbis", "-f", "ogg"],
        "film.apng": [*MUTE, "-pix_fmt", "rgba"],
    },
    "sound": {
        "s.mp3": [*SOUND, "-c:a", "libmp3lame"], "s.m4a": [*SOUND, "-c:a", "aac"], "alac.m4a": [*SOUND, "-c:a", "alac"],
        "s.aac": [*SOUND, "-c:a", "aac", "-f", "adts"], "s.flac": [*SOUND], "vorbis.ogg": [*SOUND, "-c:a", "libvorbis"],
        "opus.ogg": [*SOUND, "-c:a", "libopus"], "s.wav": [*SOUND], "adpcm.wav": [*SOUND, "-c:a", "adpcm_ms"],
        "s.aiff": [*SOUND], "s.caf": [*SOUND, "-c:a", "pcm_s16le"],
    },
}
PICTURE = ["-f", "lavfi", "-i", "testsrc2=s=300x200:r=1:d=1", "-frames:v", "1", "-update", "1"]
PICTURES = {"plain.jpg": ["jpegsave", "--Q", "80"], "progressive.jpg": ["jpegsave", "--Q", "80", "--interlace"], "p.png": ["pngsave"],
            "adam.png": ["pngsave", "--interlace"], "palette.png": ["pngsave", "--palette"],
            "p.webp": ["webpsave"], "lossless.webp": ["webpsave", "--lossless"], "p.gif": ["gifsave"],
            "lzw.tiff": ["tiffsave", "--compression", "lzw"], "tiles.tiff": ["tiffsave", "--compression", "jpeg", "--tile", "--pyramid"],
            "deflate.tiff": ["tiffsave", "--compression", "deflate", "--predictor", "horizontal"],
            "p.heic": ["heifsave", "--compression", "hevc"], "p.avif": ["heifsave", "--compression", "av1", "--effort", "0"]}


def run(*command):
    subprocess.run([str(word) for word in command], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE)


def make_seeds(folder):
    """- Returns (kind, name, bytes) for each."""
    for kind, files in SEEDS.items():
        for name, options in files.items():
            run("ffmpeg", "-v", "error", "-y", *options, "-shortest", os.path.join(folder, name))
    base = os.path.join(folder, "base.png")
    run("ffmpeg", "-v", "error", "-y", *PICTURE, base)
    for name, (operation, *options) in PICTURES.items():
        run("vips", operation, base, os.path.join(folder, name), *options)
    run("ffmpeg", "-v", "error", "-y", *MUTE, "-c:v", "libwebp_anim", os.path.join(folder, "moving.webp"))
    run("ffmpeg", "-v", "error", "-y", *PICTURE[:4], "-frames:v", "1", "-vf", "format=rgba64be", os.path.join(folder, "deep.png"))
    run("exiftool", "-q", "-overwrite_original", "-n", "-Orientation=6", "-GPSLatitude=1", "-XMP:City=x", os.path.join(folder, "plain.jpg"))
    names = [(kind, name) for kind, files in SEEDS.items() for name in files]
    names += [("picture", name) for name in (*PICTURES, "moving.webp", "deep.png", "film.gif", "film.apng")]
    seeds = []
    for kind, name in names:
        with open(os.path.join(folder, name), "rb") as file:
            seeds.append((kind, name, file.read()))
    amr = random.Random(3)
    seeds.append(("sound", "s.amr", b"#!AMR\n" + b"".join(b"\x3c" + amr.randbytes(31) for _ in range(80))))
    return seeds


def read_corpus(folder):
    """Files of make_corpus.py that are small enough to be exported often."""
    kinds = {"v": "film", "n": "film", "b": "film", "a": "sound", "i": "picture"}
    seeds = []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name[0] in kinds and os.path.isfile(path) and 0 < os.path.getsize(path) < 600_000 and name != "corpus.tsv":
            with open(path, "rb") as file:
                kind = "picture" if name.endswith((".jpg", ".png", ".gif")) else kinds[name[0]]
                seeds.append((kind, name, file.read()))
    return seeds


EXTREMES = [0, 1, 2, 3, 7, 8, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF]


def place(data, dice):
    """Half of what is read lies at an end of the file."""
    near = min(len(data), dice.choice([64, 256, 1024, 4096]))
    where = dice.random()
    if where < 0.35:
        return dice.randrange(near)
    return len(data) - 1 - dice.randrange(near) if where < 0.55 else dice.randrange(len(data))


def names_of_parts(data):
    """Where four letters stand, as at the head of a box, a chunk or a list."""
    return [at for at in range(len(data) - 8) if data[at:at + 4].isalnum() and data[at:at + 4].isascii()]


def broken(data, dice, names):
    """- Returns what is left of the file after one to four blows."""
    data = bytearray(data)
    for _ in range(dice.choice([1, 1, 1, 2, 2, 3, 4])):
        if len(data) < 16:
            break
        blow = dice.randrange(10)
        at = min(place(data, dice), len(data) - 8)
        if blow == 0:
            for _ in range(dice.choice([1, 1, 4, 16, 64])):
                data[place(data, dice)] ^= 1 << dice.randrange(8)
        elif blow == 1:
            data[at] = dice.randrange(256)
        elif blow in (2, 3):
            data[at:at + 4] = struct.pack(dice.choice("<>") + "I", dice.choice(EXTREMES))
        elif blow == 4:
            data[at:at + 2] = struct.pack(dice.choice("<>") + "H", dice.choice(EXTREMES) & 0xFFFF)
        elif blow == 5 and names:
            # The length before a name, the one behind it, or one of the fields that follow.
            start = min(dice.choice(names), len(data) - 4)
            start = max(0, start + dice.choice([-4, 4, 8, 12, 16, 20, 24]))
            if start + 4 <= len(data):
                data[start:start + 4] = struct.pack(dice.choice("<>>") + "I", dice.choice(EXTREMES))
        elif blow == 6:
            del data[max(16, at):]
        elif blow == 7:
            size = dice.choice([1, 4, 16, 64, 512])
            del data[at:at + size]
        elif blow == 8:
            size = dice.choice([4, 16, 64, 512])
            other = min(place(data, dice), max(0, len(data) - size))
            data[at:at + size] = data[other:other + size]
        else:
            size = dice.choice([1, 4, 16, 64, 512])
            data[at:at] = dice.choice([bytes(size), b"\xff" * size, bytes(data[at:at + size]), dice.randbytes(size)])
    return bytes(data)


def unreadable(report, path):
    """- Returns why the result can't be what it is said to be; nil where it can."""
    if report["size"] != os.path.getsize(path):
        return "not the bytes that were reported"
    if report["mime"] in ("image/jpeg", "image/heic"):
        result = subprocess.run(["vips", "avg", path + ("[fail_on=warning]" if report["mime"] == "image/jpeg" else "")],
                                capture_output=True, check=False)
        return f"unreadable: {result.stderr.decode()[-200:]}" if result.returncode or result.stderr else None
    result = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-count_packets", "-show_entries",
                             "stream=codec_type,nb_read_packets,nb_read_frames", "-of", "json", "file:" + path],
                            capture_output=True, check=False)
    streams = json.loads(result.stdout or "{}").get("streams", [])
    found = [(stream["codec_type"], int(stream.get("nb_read_frames", 0)), int(stream["nb_read_packets"])) for stream in streams]
    # What was copied may have a flaw of its source; what was encoded has none.
    is_copy = report.get("rung") in ("remux", "copy")
    if not found or any(frames < (0.5 if is_copy else 1) * packets - 2 or frames == 0 for _, frames, packets in found):
        return f"unreadable: {report.get('rung')} {found} {result.stderr.decode(errors='replace')[-100:]}"
    return f"flawed: {result.stderr.decode(errors='replace')[-200:]}" if result.stderr and not is_copy else None


class Run:
    def __init__(self, options, work):
        self.options = options
        self.work = work
        self.lock = threading.Lock()
        self.verdicts = Counter()
        self.issues = []

    def complain(self, number, name, job, data, what):
        with self.lock:
            self.issues.append(what)
            print(f"FAIL {number} {name} {job['job']}{' plan' if job.get('plansOnly') else ''}: {what}", flush=True)
            if self.options.keep:
                os.makedirs(self.options.keep, exist_ok=True)
                with open(os.path.join(self.options.keep, f"{number}-{job['job']}-{name}"), "wb") as file:
                    file.write(data)

    def check(self, worker, report, number):
        """- Returns what is wrong with an answer."""
        issues = []
        output = worker.output()
        if report["report"] == "failed":
            if report["code"] not in CODES:
                issues.append(f"code {report['code']}: {report['message']}")
            check_sentence(report["message"], "some file", issues)
        elif report["report"] == "done" and number % self.options.check == 0:
            issues += [what for what in [unreadable(report, output)] if what]
        if report["report"] != "done" and os.path.exists(output):
            issues.append("left a file behind")
        if worker.peak_bytes() > MEMORY * 1.25:
            issues.append(f"{worker.peak_bytes() >> 20} MiB")
        return issues

    def go(self, cases):
        """One worker's life; another one takes its place where it dies."""
        folder = tempfile.mkdtemp(dir=self.work)
        source = os.path.join(folder, "source")
        worker = None
        for number, name, job, data in cases:
            with open(source, "wb") as file:
                file.write(data)
            if worker is None:
                worker = WarmWorker(self.options.worker, folder)
            try:
                report = worker.run(job, "some file", source, PATIENCE)
                with self.lock:
                    self.verdicts[report.get("code", report["report"])] += 1
                for issue in self.check(worker, report, number):
                    self.complain(number, name, job, data, issue)
            except Hung:
                self.complain(number, name, job, data, f"no answer within {PATIENCE} s")
                worker = None
            except Died as died:
                died = signal.Signals(-died.status).name if died.status < 0 else f"exit {died.status}"
                self.complain(number, name, job, data, f"the worker died: {died}")
                worker = None
            for left in os.listdir(folder):
                os.unlink(os.path.join(folder, left))
        if worker and worker.close() != 0:
            self.issues.append("a worker ended badly")
            print("FAIL a worker ended badly")


def cases(seeds, options, part):
    """Every second broken file, without end; each knows its number."""
    parts = {name: names_of_parts(data) for _, name, data in seeds}
    only = set(options.only.split(",")) if options.only else None
    for number in range(part + options.first, options.first + options.count, WORKERS):
        dice = random.Random(f"{options.seed}/{number}")
        kind, name, data = dice.choice(seeds)
        job = RARE[kind] if kind in RARE and dice.random() < 0.02 else dice.choice(JOBS[kind])
        if dice.random() < 0.03:
            job = dice.choice(JOBS[dice.choice(list(JOBS))])
        if only is None or name in only:
            yield number, name, job, broken(data, dice, parts[name])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worker")
    parser.add_argument("--count", type=int, default=1500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--corpus")
    parser.add_argument("--keep")
    parser.add_argument("--check", type=int, default=10)
    options = parser.parse_args()
    options.worker = os.path.abspath(options.worker)
    work = tempfile.mkdtemp(prefix="taskcenter-mutate-")
    try:
        made = os.path.join(work, "seeds")
        os.mkdir(made)
        seeds = make_seeds(made) + (read_corpus(options.corpus) if options.corpus else [])
        run_ = Run(options, work)
        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(lambda part: run_.go(cases(seeds, options, part)), range(WORKERS)))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"{options.count} files of {len(seeds)} kinds: {dict(run_.verdicts.most_common())}; {len(run_.issues)} failed")
    sys.exit(1 if run_.issues else 0)


if __name__ == "__main__":
    main()
