"""One large `put` upload beside `curl -T` of the same bytes to the same nginx."""
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

SERVERS = Path(__file__).resolve().parents[1] / "Servers"
sys.path.insert(0, str(SERVERS))

from engine_client import EngineProcess  # noqa: E402
from json_service import JSONService  # noqa: E402

ROUNDS = 3
PATIENCE_S = 900


class Nginx:
    def __init__(self, folder):
        self.folder = folder
        self.process = subprocess.Popen(["bash", SERVERS / "start-nginx.sh", folder], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        words = self.process.stdout.readline().split()
        if words[:1] != ["ready"]:
            raise RuntimeError("nginx did not start")
        self.url = f"http://127.0.0.1:{words[1]}/put"

    def stop(self):
        self.process.stdin.close()
        self.process.wait(10)


def credential_service(storage_url, size):
    """Points every upload at nginx and accepts every delivery. No checks: they would be measured too.

    Warms memory before it answers a credential request, as is done before curl starts; `answered` is when it was."""
    def answer(request, path):
        if path.startswith("/send/"):
            return {"id": "post"}
        touch_memory(2 * size)
        service.answered = time.time()
        return {"uploads": [{"index": resource["index"], "protocol": "put",
                             "url": f"{storage_url}/{request['taskId']}/{resource['index']}", "headers": {}}
                            for resource in request["resources"]]}

    service = JSONService(answer)
    return service


def write_config(folder, base):
    config = {"destinations": {"bench": {"credential": {"type": "http", "url": f"{base}/uploads"},
                                         "delivery": {"type": "http", "url": f"{base}/send/{{kind}}"}}},
              "accounts": {"default": {"destination": "bench"}}}
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    return path


def random_file(path, size):
    """Nothing that a zip could shrink."""
    with path.open("wb") as file:
        for _ in range(0, size, 1 << 20):
            file.write(os.urandom(1 << 20))


def engine_upload(engine, service, source):
    """- Returns seconds of the steps, by the engine's own history, and the task's id. The upload counts from the credential."""
    begin = time.perf_counter()
    task = engine.call("task/submit", {"kind": "log", "resources": [{"source": {"paths": [str(source)]}}]})["task"]
    patience = {"id": task["id"], "timeoutMs": PATIENCE_S * 1000}
    task = engine.call("task/wait", patience, timeout=PATIENCE_S + 10)["task"]
    if task["state"] != "sent":
        raise RuntimeError(f"the task is {task['state']}: {task.get('failure', {}).get('message')}")
    seconds = {"total": time.perf_counter() - begin}
    times = {entry["to"]: entry["at"] for entry in engine.call("task/history", {"id": task["id"]})["entries"]
             if entry.get("resource") == 0}
    seconds["export"] = (times["exported"] - times["exporting"]) / 1000
    seconds["upload"] = times["uploaded"] / 1000 - service.answered
    return seconds, task["id"]


def curl_upload(url, file):
    touch_memory(2 * file.stat().st_size)
    begin = time.perf_counter()
    subprocess.run(["curl", "-fsS", "--noproxy", "*", "-o", os.devnull, "-T", file, url], check=True)
    return time.perf_counter() - begin


def hash_seconds(file):
    """- Returns one pass for both digests on one core, and two openssl processes side by side."""
    begin = time.perf_counter()
    md5, sha256 = hashlib.md5(), hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            md5.update(chunk)
            sha256.update(chunk)
    one_pass = time.perf_counter() - begin
    begin = time.perf_counter()
    pair = [subprocess.Popen(["openssl", "dgst", f"-{name}", file], stdout=subprocess.DEVNULL)
            for name in ("md5", "sha256")]
    for process in pair:
        process.wait()
    return one_pass, time.perf_counter() - begin


def missing():
    wanted = [name for name in ("nginx", "curl", "openssl") if not shutil.which(name)]
    return wanted + [name for name in ("start-nginx.sh", "nginx.conf") if not (SERVERS / name).exists()]


def touch_memory(size):
    """Makes the host back the memory that the next file will lie in, right before it is written. On a virtual machine a
    page is several times as slow when the host has to find it first, and the host takes back what lies free for a while.
    It hit the engine alone: curl came second, and into the pages of the export that had just been removed."""
    code = "import mmap,sys\nn=int(sys.argv[1])\nm=mmap.mmap(-1,n)\nfor i in range(0,n,4096): m[i]=1"
    with open("/proc/meminfo") as facts:
        free = next(int(line.split()[1]) * 1024 for line in facts if line.startswith("MemAvailable"))
    subprocess.run([sys.executable, "-c", code, str(min(size, free * 2 // 3))], check=True)


def measure(programs, work, size):
    """- Returns the rows of the table: what, ours, curl's (None where there is none), unit."""
    random_file(work / "source.bin", size)
    nginx = Nginx(work / "nginx")
    service = credential_service(nginx.url, size)
    store = work / "nginx" / "store"
    ours, theirs, hashes = [], [], []
    try:
        command = [programs / "taskcenterd", "--store", work / "store",
                   "--config", write_config(work, service.url)]
        with EngineProcess(command) as engine:
            object_file = work / "object.zip"
            # One round to warm up: it leaves the very bytes that go up, for curl to send them too.
            _, task_id = engine_upload(engine, service, work / "source.bin")
            (store / task_id / "0").rename(object_file)
            for _ in range(ROUNDS):
                seconds, task_id = engine_upload(engine, service, work / "source.bin")
                ours.append(seconds)
                theirs.append(curl_upload(f"{nginx.url}/curl", object_file))
                engine.call("task/delete", {"id": task_id})
                shutil.rmtree(store / task_id)
                (store / "curl").unlink()
                hashes.append(hash_seconds(object_file))
    finally:
        service.stop()
        nginx.stop()
    gigabytes = f"{object_file.stat().st_size / 2**30:.2f} GiB"

    def median_of(step):
        values = [seconds[step] for seconds in ours if step in seconds]
        return statistics.median(values) if values else None

    rows = [(f"put of {gigabytes}, upload step", median_of("upload"), statistics.median(theirs), "s"),
            ("same, export step (zip, both digests)", median_of("export"), None, "s"),
            (f"same, submit → sent", median_of("total"), None, "s"),
            (f"MD5 and SHA-256 of {gigabytes}, one pass, one core", None, statistics.median(h[0] for h in hashes), "s"),
            ("same, two `openssl dgst` side by side", None, statistics.median(h[1] for h in hashes), "s")]
    return rows
