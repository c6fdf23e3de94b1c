#!/usr/bin/env python3
"""Makes demo media on the spot with ffmpeg, vips and exiftool: photos as phones store them, and one clip.

Each photo has more than 12 megapixels, an EXIF orientation, a position and camera tags that must not leave the house,
and four corner colours in DISPLAY orientation (top left red, top right green, bottom left blue, bottom right yellow),
so that an export that forgets to turn the picture can be told from its pixels. The clip is H.264/AAC in full HD, over
12 MB, with a rotation tag where --portrait is given.

usage: make_media.py OUTDIR [--portrait]
Prints the path of each file, photos first. What is there already is kept.
"""
import argparse
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOOLS = {"ffmpeg": "ffmpeg", "exiftool": "libimage-exiftool-perl"}
# EXIF orientation → the filter that turns a picture from how it is shown into how it is stored.
STORED = {1: "null", 3: "hflip,vflip", 6: "transpose=2", 8: "transpose=1"}
# Name, size as shown, orientation, what is to be seen.
PHOTOS = (
    ("IMG_0001.jpg", (3024, 4032), 6, "mandelbrot=s=756x1008:maxiter=500,scale={w}:{h}"),
    ("IMG_0002.jpg", (4032, 3024), 3, "testsrc2=s={w}x{h}"),
    ("Garden at noon.jpg", (3024, 4032), 8, "gradients=s={w}x{h}:n=3:seed=7:c0=0x204020:c1=0x80c060:c2=0xf0e0a0"),
    ("Grüße vom See.jpg", (4624, 3468), 1, "gradients=s={w}x{h}:type=radial:n=2:seed=3:c0=0x103060:c1=0xa0d0ff"),
)
PRIVATE = ("-GPSLatitude=59.9", "-GPSLatitudeRef=N", "-GPSLongitude=30.3", "-GPSLongitudeRef=E", "-Make=Example",
           "-Model=Phone 12", "-SerialNumber=12345", "-OwnerName=Somebody", "-DateTimeOriginal=2026:05:01 12:00:00")


def corners(width, height):
    side = min(width, height) // 8 // 2 * 2
    boxes = (("0", "0", "red"), (f"iw-{side}", "0", "lime"), ("0", f"ih-{side}", "blue"),
             (f"iw-{side}", f"ih-{side}", "yellow"))
    return ",".join(f"drawbox={x}:{y}:{side}:{side}:{colour}:fill" for x, y, colour in boxes)


def run(*command):
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{command[0]} failed: {result.stderr.strip()[-600:]}")


def photo(path, size, orientation, source):
    width, height = size
    picture = source.format(w=width, h=height) + ",noise=alls=9," + corners(width, height) + "," + STORED[orientation]
    beside = path.with_name(f".{path.stem}.part.jpg")
    run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", picture, "-frames:v", "1", "-pix_fmt", "yuvj420p",
        "-q:v", "3", "-threads", "1", str(beside))
    run("exiftool", "-q", "-overwrite_original", "-n", f"-Orientation={orientation}", *PRIVATE, str(beside))
    beside.rename(path)


def clip(path, is_portrait):
    beside = path.with_name(f".{path.stem}.part.mp4")
    # The noise moves: it costs bits as a real sensor does, so that few seconds make many bytes.
    picture = "testsrc2=s=1920x1080:r=30:d=4,noise=alls=20:allf=t," + corners(1920, 1080)
    run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", picture, "-f", "lavfi", "-i",
        "sine=f=440:r=48000:d=4,aformat=channel_layouts=stereo", "-c:v", "libx264", "-preset", "ultrafast",
        "-b:v", "28M", "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "128k", "-metadata", "location=+59.9+030.3/",
        str(beside))
    if is_portrait:
        turned = path.with_name(f".{path.stem}.turned.mp4")
        run("ffmpeg", "-v", "error", "-y", "-i", str(beside), "-c", "copy", "-metadata:s:v", "rotate=90", str(turned))
        turned.rename(beside)
    beside.rename(path)


def make(folder, is_portrait=False):
    """- Returns the paths: the photos, and the clip as the last one."""
    missing = [f"{tool} (Debian package {package})" for tool, package in TOOLS.items() if not shutil.which(tool)]
    if missing:
        sys.exit(f"make_media.py needs {' and '.join(missing)}")
    folder.mkdir(parents=True, exist_ok=True)
    video = folder / ("VID_0002.mp4" if is_portrait else "VID_0001.mp4")
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(clip, video, is_portrait)] if not video.exists() else []
        jobs += [pool.submit(photo, folder / name, *rest) for name, *rest in PHOTOS if not (folder / name).exists()]
        for job in jobs:
            job.result()
    return [folder / name for name, *_ in PHOTOS] + [video]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="OUTDIR")
    parser.add_argument("--portrait", action="store_true", help="give the clip a rotation tag")
    options = parser.parse_args()
    print("\n".join(str(path) for path in make(options.folder, options.portrait)))


if __name__ == "__main__":
    main()
