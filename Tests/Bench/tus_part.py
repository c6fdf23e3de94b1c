"""One large tus upload to SeaweedFS beside tuspy, the reference client in Python: the same chunks, one at a time."""
import json
import statistics
import subprocess
import sys
import time

import s3_part
import upload_part
from engine_client import EngineProcess  # upload_part puts it on the path
from json_service import JSONService
from storage import Weed

ROUNDS = 3
CHUNK = 8 << 20
CODE = """
import sys
from tusclient.client import TusClient
TusClient(sys.argv[1]).uploader(sys.argv[2], chunk_size=int(sys.argv[3]),
                                metadata={"filename": "source.bin", "filetype": "application/octet-stream"}).upload()
"""


def missing():
    return s3_part.missing()


def tuspy(build):
    """- Returns the Python that has it, installed if need be; None where it can't be had."""
    venv = build / "bench-venv"
    python = venv / "bin" / "python"

    def is_there():
        return python.exists() and subprocess.run([python, "-c", "import tusclient"], stderr=subprocess.DEVNULL).returncode == 0

    if not is_there():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin" / "pip", "-q", "install", "tuspy"], check=False)
    return python if is_there() else None


def place(weed, name):
    return f"http://127.0.0.1:{weed.filer_port}/.tus/buckets/media/{name}"


def issuer(weed, size):
    """Names a place of its own for every upload, and checks nothing. Warms memory before it answers, as is done before tuspy
    starts (see touch_memory); `answered` is when it was."""
    def answer(request, _):
        upload_part.touch_memory(2 * size)
        service.answered = time.perf_counter()
        return {"uploads": [{"index": resource["index"], "protocol": "tus", "endpoint": place(weed, request["taskId"])}
                            for resource in request["resources"]]}

    service = JSONService(answer)
    return service


def config(folder, url):
    destination = {"credential": {"type": "http", "url": url + "/uploads"},
                   "delivery": {"type": "journal", "path": str(folder / "sent.jsonl")}}
    path = folder / "config.json"
    path.write_text(json.dumps({"uploads": {"partSize": CHUNK}, "destinations": {"bench": destination},
                                "accounts": {"default": {"destination": "bench"}}}))
    return path


def measure(programs, build, work, size, where):
    """- Returns the table as Markdown."""
    upload_part.random_file(work / "source.bin", size)
    python = tuspy(build)
    weed = Weed(work / "weed")
    service = issuer(weed, size)
    rounds = {"taskcenterd": []}
    try:
        command = [programs / "taskcenterd", "--store", work / "store", "--config", config(work, service.url)]
        with EngineProcess(command) as engine:
            engine.call("event/subscribe", {"progressIntervalMs": 1000})
            for _ in range(ROUNDS):
                mine = s3_part.engine_round(engine, work / "source.bin", lambda: service.answered)
                engine.call("task/delete", {"id": mine["id"]})
                rounds["taskcenterd"].append(mine)
                if python:
                    line = [python, "-c", CODE, place(weed, "tuspy"), work / "source.bin", str(CHUNK)]
                    upload_part.touch_memory(2 * size)
                    rounds.setdefault("tuspy", []).append(s3_part.other_round(line, s3_part.environment(work)))
                for key in weed.keys():
                    weed.request("DELETE", "/" + key)
            memory = s3_part.peak_mebibytes(engine.process.pid)
    finally:
        service.stop()
        weed.stop()
    if not python:
        print("tuspy can't be installed and was not measured", file=sys.stderr)
    title = f"tus upload of {size / 2**30:.2f} GiB (all files {where}, 8 MiB chunks, 1 connection)"
    return s3_part.table(title, rounds, memory)
