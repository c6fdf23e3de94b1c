"""Chat videos that have to fit: the planned ladder (one encode as a rule) beside the classic one, which encodes a rung at
constant quality, looks at the size, throws it away and takes the next. Both use x264 `fast` at CRF 23 and the same rungs.

Quality is SSIM of the luma against the source, at the source's size. As a film of more bytes looks better, the classic
rung is also encoded in two passes at exactly our bytes ("at our size"): that is the fair comparison of rungs.
"""
import json
import os
import re
import statistics
import subprocess
import sys

SECONDS, RATE, SIZE = 6, 30, (1280, 720)
# What a limit leaves per second of film, in kbit/s: one for each region of the ladder.
LIMITS_KBPS = (1700, 850, 425, 215)
RUNGS = ((1280, 720, 128), (960, 540, 128), (640, 480, 96), (568, 360, 64), (426, 240, 48))

SOURCE = f"s={SIZE[0]}x{SIZE[1]}:r={RATE}"
STILL = "mandelbrot=s=1920x1080:r=30:maxiter=300,trim=end_frame=1"
# Sensor noise moves; so does grain. What is in front moves as much as its name says.
CLIPS = {
    "pattern": f"testsrc2={SOURCE},noise=alls=4:allf=t",
    "fractal": f"mandelbrot={SOURCE}:maxiter=300:end_pts=600",
    "slow zoom": f"{STILL},zoompan=z='1+0.002*on':d={SECONDS * RATE}:s={SIZE[0]}x{SIZE[1]}:fps={RATE}",
    "film": f"gradients={SOURCE}:speed=0.03:n=4:seed=5,format=yuv420p,noise=c0s=6:c0f=t",
    "head": f"{STILL},scale={SIZE[0]}:{SIZE[1]},loop=-1:1,setpts=N/{RATE}/TB[back];"
            f"testsrc2=s=240x320:r={RATE}[head];"
            "[back][head]overlay=x='520+14*sin(3*t)':y='240+6*sin(5*t)':shortest=1,noise=alls=2:allf=t",
    "cut": f"color=c=0x405060:{SOURCE}:d=3,noise=alls=2:allf=t[quiet];"
           f"life=s=160x90:r={RATE}:ratio=0.3:seed=4:mold=10:life_color=orange:death_color=navy,"
           f"scale={SIZE[0]}:{SIZE[1]}:flags=neighbor,setsar=1,trim=duration=3[busy];[quiet][busy]concat",
}


def ffmpeg(*words):
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *map(str, words)], check=True)


def cpu_of(command):
    """- Returns CPU seconds and what the program wrote to stdout."""
    with subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[0]}: status {process.returncode}: {output.decode(errors='replace')}")
    return usage.ru_utime + usage.ru_stime, output


def make_clip(name, path):
    # The sound is MP3, so that no film can be passed on as it is: this is about encodes.
    ffmpeg("-f", "lavfi", "-i", CLIPS[name] + ",format=yuv420p", "-f", "lavfi", "-i",
           "anoisesrc=a=0.05:c=pink:r=48000:seed=1,aformat=channel_layouts=stereo", "-t", SECONDS, "-c:v", "libx264",
           "-preset", "veryfast", "-crf", 16, "-c:a", "libmp3lame", "-b:a", "128k", path)


def fitted(rung):
    scale = min(1, rung[0] / SIZE[0], rung[1] / SIZE[1])
    return tuple(int(side * scale / 2 + 0.5) * 2 for side in SIZE)


def encode(source, rung, output, rate_words):
    width, height = fitted(rung)
    return ["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", source, "-vf",
            f"scale={width}:{height}:flags=bicubic,format=yuv420p", "-c:v", "libx264", "-preset", "fast", *rate_words,
            "-c:a", "aac", "-b:a", f"{rung[2]}k", "-map_metadata", "-1", "-movflags", "+faststart", output]


def encode_at_size(source, rung, output, size):
    """Two passes: as good as x264 gets with so many bytes."""
    rate = max(20, int(size * 8 / SECONDS / 1000 - rung[2] - 3))
    for number in (1, 2):
        words = ["-b:v", f"{rate}k", "-pass", number, "-passlogfile", output.with_suffix("")]
        ffmpeg(*encode(source, rung, output, words)[4:])


def ssim(film, source):
    """Of the luma, frame by frame in their order."""
    # In one time base: N / RATE / TB is rounded down, now and then to the frame before, and differently for each film.
    pairing = f"settb=1/{RATE},setpts=N"
    graph = (f"[0:v]scale={SIZE[0]}:{SIZE[1]}:flags=bicubic,format=yuv420p,{pairing}[a];[1:v]format=yuv420p,{pairing}[b];"
             "[a][b]ssim")
    done = subprocess.run(["ffmpeg", "-v", "info", "-nostdin", "-i", film, "-i", source, "-lavfi", graph, "-f", "null", "-"],
                          capture_output=True, text=True, check=True)
    return float(re.search(r"SSIM Y:([0-9.]+)", done.stderr).group(1))


def classic_rungs(source, work):
    """Each rung once: what it costs and weighs does not depend on the limit. Made when a limit asks for it."""
    made = {}

    def rung(index):
        if index not in made:
            output = work / f"classic-{index}.mp4"
            seconds, _ = cpu_of(encode(source, RUNGS[index], output, ["-crf", "23"]))
            made[index] = (output, seconds, output.stat().st_size)
        return made[index]
    return rung


def classic_send(rung, limit):
    """- Returns the rung that went out, encodes, CPU seconds."""
    spent = 0
    for index in range(len(RUNGS)):
        _, seconds, size = rung(index)
        spent += seconds
        if size <= limit:
            break
    return index, index + 1, spent


def planned_send(program, source, output, limit):
    seconds, answer = cpu_of([program, "--one", "video", "--limit", limit, "--hard-limit", 4 * limit, source, output])
    report = json.loads(answer)
    if report["size"] != output.stat().st_size:
        raise RuntimeError(f"the report says {report['size']} bytes, the file has {output.stat().st_size}")
    return report, seconds


def compare(program, source, work):
    """- Yields one dictionary for each limit."""
    rung, quality = classic_rungs(source, work), {}
    for kbps in LIMITS_KBPS:
        limit = kbps * 1000 * SECONDS // 8
        ours = work / "ours.mp4"
        report, seconds = planned_send(program, source, ours, limit)
        index, encodes, classic_seconds = classic_send(rung, limit)
        film, _, size = rung(index)
        if index not in quality:
            quality[index] = ssim(film, source)
        same_size = work / "same.mp4"
        encode_at_size(source, RUNGS[index], same_size, report["size"])
        yield {"limit": limit, "encodes": (report["encodes"], encodes), "seconds": (seconds, classic_seconds),
               "size": (report["size"], size), "width": (report["width"], fitted(RUNGS[index])[0]),
               "ssim": (ssim(ours, source), quality[index]), "same": ssim(same_size, source)}


def measure(programs, work, clips=None):
    """- Returns the rows of the table: what, ours, the classic ladder's, unit."""
    sends = []
    for name in list(CLIPS)[:clips]:
        source = work / "source.mp4"
        make_clip(name, source)
        for send in compare(programs / "taskcenter-export", source, work):
            print(f"ladder: {name}, {send}", file=sys.stderr)
            sends.append(send)

    def both(value, of=statistics.mean):
        return of(value(send, 0) for send in sends), of(value(send, 1) for send in sends)

    def row(text, pair, unit):
        return text, pair[0], pair[1], unit

    count = f"of {len(sends)}"
    fits = [send for send in sends if send["size"][1] <= send["limit"]]
    return [
        row("encodes per send", both(lambda send, who: send["encodes"][who]), "encodes"),
        row("sends over their limit", both(lambda send, who: send["size"][who] > send["limit"], sum), count),
        row("CPU of all sends", both(lambda send, who: send["seconds"][who], sum), "s"),
        row("share of the limit that is used", both(lambda send, who: 100 * send["size"][who] / send["limit"]), "%"),
        row("sends with the larger picture", both(lambda s, who: s["width"][who] > s["width"][1 - who], sum), count),
        row("SSIM of what went out", both(lambda send, who: 100 * send["ssim"][who]), "%"),
        ("SSIM, the classic rung at our size", 100 * statistics.mean(send["ssim"][0] for send in sends),
         100 * statistics.mean(send["same"] for send in sends), "%"),
        (f"same, the {len(fits)} sends that the classic one gets below the limit",
         100 * statistics.mean(send["ssim"][0] for send in fits) if fits else None,
         100 * statistics.mean(send["same"] for send in fits) if fits else None, "%"),
    ]


def missing():
    """- Returns what is not there of the programs that this part needs."""
    found = subprocess.run(["ffmpeg", "-v", "error", "-encoders"], capture_output=True, text=True)
    return [] if found.returncode == 0 and "libx264" in found.stdout else ["ffmpeg with libx264"]
