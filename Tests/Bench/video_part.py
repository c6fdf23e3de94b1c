"""Video exports beside the ffmpeg command with the same settings: feed preset, 720p, HDR to SDR. CPU seconds and wall."""
import os
import shutil
import statistics
import subprocess
import time

ROUNDS = 3
GRAIN = "noise=alls=12:allf=t+u"
# One line for each case: name, what the clip is made of, box, ceiling in bit/s, the filters that the worker uses for it.
SDR = "scale={w}:{h}:flags=bicubic:in_color_matrix=bt709:out_color_matrix=bt709:out_range=tv,setsar=1,format=yuv420p"
HDR = ("crop=trunc(iw/2)*2:trunc(ih/2)*2,zscale={w}:{h}:tin=arib-std-b67:pin=2020:min=2020_ncl:t=linear:npl=203,"
       "format=gbrpf32le,zscale=p=bt709,tonemap=tonemap=mobius:desat=0,zscale=t=bt709:m=bt709:r=tv:d=error_diffusion,"
       "setsar=1,format=yuv420p")
CASES = [("feed preset, 1080p → 960×540", "sdr", (960, 540), 1_500_000, SDR),
         ("1080p → 1280×720", "sdr", (1280, 720), 2_500_000, SDR),
         ("HDR (HLG) 1080p → 1280×720", "hdr", (1280, 720), 2_500_000, HDR)]


def ffmpeg(*words):
    return ["ffmpeg", "-v", "error", "-nostdin", "-y", *map(str, words)]


def make_clip(folder, kind):
    """A phone's film, as well as it can be made up: a moving picture with grain, stereo sound, about 14 Mbit/s."""
    path = folder / f"{kind}.mp4"
    source = f"mandelbrot=s=1920x1080:r=30:end_scale=0.02,{GRAIN}"
    sound = ["-f", "lavfi", "-i", "sine=440:r=48000,aformat=channel_layouts=stereo"]
    if kind == "sdr":
        seconds, codec = 12, ["-vf", "format=yuv420p", "-c:v", "libx264", "-preset", "veryfast", "-b:v", "14M",
                              "-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709"]
    else:
        seconds, codec = 5, ["-vf", "format=yuv420p10le", "-c:v", "libx265", "-preset", "ultrafast", "-b:v", "14M",
                             "-x265-params", "log-level=error:colorprim=bt2020:transfer=arib-std-b67:colormatrix=bt2020nc",
                             "-color_primaries", "bt2020", "-color_trc", "arib-std-b67", "-colorspace", "bt2020nc",
                             "-tag:v", "hvc1"]
    subprocess.run(ffmpeg("-f", "lavfi", "-i", source, *sound, *codec, "-c:a", "aac", "-t", seconds, path), check=True)
    return path


def timed(command):
    """- Returns wall seconds and CPU seconds of one process."""
    begin = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    if os.waitstatus_to_exitcode(status) != 0:
        raise RuntimeError(f"{command[0]} failed")
    return wall, usage.ru_utime + usage.ru_stime


def reference(clip, output, box, rate, filters):
    width, height = box
    return ffmpeg("-i", clip, "-map", "0:v:0", "-map", "0:a:0", "-vf", filters.format(w=width, h=height),
                  "-c:v", "libx264", "-preset", "fast", "-profile:v", "high", "-crf", 23, "-maxrate", rate, "-bufsize", rate,
                  "-g", 250, "-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709", "-color_range", "tv",
                  "-c:a", "aac", "-b:a", "128k", "-map_metadata", -1, "-movflags", "+faststart", output)


def missing():
    return [name for name in ("ffmpeg",) if not shutil.which(name)]


def measure(programs, work):
    """- Returns the rows of the table: what, ours, ffmpeg's, unit."""
    clips = {kind: make_clip(work, kind) for kind in ("sdr", "hdr")}
    worker, rows = programs / "taskcenter-export", []
    for name, kind, box, rate, filters in CASES:
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(timed([worker, "--one", "video", "--box", f"{box[0]}x{box[1]}", "--max-rate", rate, clips[kind],
                               work / "ours.mp4"]))
            theirs.append(timed(reference(clips[kind], work / "theirs.mp4", box, rate, filters)))
            sizes = [(work / which).stat().st_size / 2**20 for which in ("ours.mp4", "theirs.mp4")]
            (work / "ours.mp4").unlink()
        for place, unit in ((1, "CPU"), (0, "wall")):
            rows.append((f"{name}, {unit}", statistics.median(run[place] for run in ours),
                         statistics.median(run[place] for run in theirs), "s"))
        rows.append((f"{name}, size", *sizes, "MiB"))
    return rows
