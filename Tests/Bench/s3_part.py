"""One large S3 multipart upload to SeaweedFS beside rclone, awscli and a single PUT by curl: what the client itself costs.

The wall clock is the server's here (it needs several times the client's CPU, on the same machine); compare CPU and memory. All use
8 MiB parts and 3 connections. The engine's figures are for its upload step; the digests of the whole file, which go
into the receipt, are made before, in the export step, and stand in a row of their own."""
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import upload_part
from engine_client import EngineProcess  # upload_part puts it on the path
from storage import KEY, SECRET, Weed

ROUNDS = 3
PART = 8 << 20
CONNECTIONS = 3
TICKS = os.sysconf("SC_CLK_TCK")
WEED = Path(__file__).resolve().parents[2] / ".build" / "venv" / "bin" / "weed"


def missing():
    return [] if WEED.exists() or os.environ.get("WEED") else ["SeaweedFS (`make setup`)"]


def cpu_seconds(pid):
    """User and system time of one process, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_mebibytes(pid):
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def config(folder, weed):
    upload = {"protocol": "multipart", "endpoint": f"http://{weed.address}", "region": "us-east-1", "bucket": "media",
              "keyPrefix": "engine/", "pathStyle": True, "accessKeyId": KEY, "secretAccessKey": SECRET}
    destination = {"credential": {"type": "static", "upload": upload},
                   "delivery": {"type": "journal", "path": str(folder / "sent.jsonl")}}
    path = folder / "config.json"
    path.write_text(json.dumps({"uploads": {"slots": CONNECTIONS, "partSize": PART}, "destinations": {"bench": destination},
                                "accounts": {"default": {"destination": "bench"}}}))
    return path


def engine_round(engine, source, begin_of_upload=None):
    """- Returns wall and CPU seconds of the export step's digests and of the upload step.

    `begin_of_upload` tells by perf_counter when that was, where the state `uploading` comes too early."""
    pid = engine.process.pid
    engine.notifications.clear()
    marks = {"begin": (time.perf_counter(), cpu_seconds(pid))}
    task = engine.call("task/submit", {"kind": "log", "resources": [{"source": {"paths": [str(source)]}}]})["task"]
    while task["state"] not in ("sent", "failed"):
        note = engine.notifications.pop(0) if engine.notifications else engine.message(time.monotonic() + 900)
        if note.get("method") != "task/changed" or note["params"]["task"]["id"] != task["id"]:
            continue
        task = note["params"]["task"]
        marks.setdefault(task["resources"][0]["state"], (time.perf_counter(), cpu_seconds(pid)))
    if task["state"] != "sent":
        raise RuntimeError(f"the upload failed: {task['failure']['message']}")
    wall, cpu = (marks["uploaded"][i] - marks["uploading"][i] for i in (0, 1))
    if begin_of_upload:
        wall = marks["uploaded"][0] - begin_of_upload()
    return {"wall": wall, "cpu": cpu, "digests": marks["exported"][1] - marks["begin"][1], "id": task["id"]}


def other_round(command, environment):
    begin = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[0]} ended with status {process.returncode}")
    return {"wall": time.perf_counter() - begin, "cpu": usage.ru_utime + usage.ru_stime, "memory": usage.ru_maxrss / 1024}


def environment(folder):
    """What the others run in: keys, nothing of the person's own settings, and no proxy."""
    kept = {name: value for name, value in os.environ.items() if name not in ("AWS_CA_BUNDLE", "AWS_PROFILE")}
    return kept | {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_DEFAULT_REGION": "us-east-1", "HOME": str(folder),
                   "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


def contenders(folder, weed, file):
    """Commands of the programs that are there, by name."""
    found = {}
    if rclone := shutil.which("rclone"):
        remote = f":s3,provider=Other,env_auth=true,endpoint='http://{weed.address}',no_check_bucket=true:media/rclone"
        found["rclone"] = [rclone, "copyto", "--config", "", "--s3-chunk-size", str(PART), "--s3-upload-concurrency", str(CONNECTIONS),
                           "--no-traverse", "--ignore-times", str(file), remote]
    if aws := shutil.which("aws"):
        (folder / ".aws").mkdir(exist_ok=True)
        (folder / ".aws" / "config").write_text("[default]\ns3 =\n  multipart_chunksize = 8MB\n  max_concurrent_requests = 3\n"
                                                "  addressing_style = path\n")
        found["awscli"] = [aws, "s3", "cp", "--only-show-errors", "--endpoint-url", f"http://{weed.address}", str(file),
                           "s3://media/aws"]
    if curl := shutil.which("curl"):
        found["curl -T, one PUT, no digest"] = [
            curl, "-fsS", "-o", os.devnull, "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"{KEY}:{SECRET}",
            "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", "-T", str(file), f"http://{weed.address}/media/curl"]
    return found


def table(title, rounds, memory):
    """Medians; `memory` is the engine's peak over all rounds."""
    lines = [f"### {title}", "", "| | client CPU | peak memory | wall, mostly the server's |", "|---|---|---|---|"]
    for name, values in rounds.items():
        peak = memory if name == "taskcenterd" else max(value["memory"] for value in values)
        lines.append(f"| {name}{', upload step' if name == 'taskcenterd' else ''} | "
                     f"{statistics.median(v['cpu'] for v in values):.2f} s | {peak:.0f} MiB | "
                     f"{statistics.median(v['wall'] for v in values):.2f} s |")
    digests = statistics.median(value["digests"] for value in rounds["taskcenterd"])
    lines.append(f"| taskcenterd, MD5 and SHA-256 of the whole file before | {digests:.2f} s | | |")
    return "\n".join(lines)


def measure(programs, work, size, where):
    """- Returns the table as Markdown."""
    upload_part.random_file(work / "source.bin", size)
    weed = Weed(work / "weed")
    rounds = {"taskcenterd": []}
    try:
        others = contenders(work, weed, work / "source.bin")
        command = [programs / "taskcenterd", "--store", work / "store", "--config", config(work, weed)]
        with EngineProcess(command) as engine:
            engine.call("event/subscribe", {"progressIntervalMs": 1000})
            for _ in range(ROUNDS):
                mine = engine_round(engine, work / "source.bin")
                engine.call("task/delete", {"id": mine["id"]})
                rounds["taskcenterd"].append(mine)
                for name, line in others.items():
                    rounds.setdefault(name, []).append(other_round(line, environment(work)))
                for key in weed.keys():
                    weed.request("DELETE", "/" + key)
            memory = peak_mebibytes(engine.process.pid)
    finally:
        weed.stop()
    for name in ("rclone", "awscli"):
        if name not in rounds:
            print(f"{name} is not installed and was not measured", file=sys.stderr)
    title = f"S3 multipart of {size / 2**30:.2f} GiB (all files {where}, 8 MiB parts, {CONNECTIONS} connections)"
    return table(title, rounds, memory)
