"""500 files of 200 KB as 56 feed posts of up to nine, by `put` to nginx, beside one `curl -Z --parallel-max 3` of the same.

The credential service answers nobody until every file is exported: what is measured is the uploads alone, from its first
answer to the last file that is up, by the engine's own history. The deliveries, which nginx takes too, go on beside
them: a post is delivered when its last file is up."""
import http.server
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import upload_part
from engine_client import EngineProcess

FILES, POST = 500, 9
ROUNDS = 3


def make_photos(folder):
    """Small clean JPEGs, which are passed on as they are."""
    photos = folder / "photos"
    photos.mkdir()
    first = photos / "0.jpg"
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=s=900x600,noise=alls=40", "-frames:v", "1",
                    "-q:v", "8", first], check=True, stdin=subprocess.DEVNULL)
    content = first.read_bytes()
    # What follows the start of the picture tells one from another: a comment of three bytes.
    for index in range(FILES):
        comment = b"\xff\xfe\x00\x05" + index.to_bytes(3, "big")
        (photos / f"{index}.jpg").write_bytes(content[:2] + comment + content[2:])
    return photos_of(folder), len(content)


def photos_of(folder):
    return sorted((folder / "photos").iterdir(), key=lambda path: int(path.stem))


class Service(http.server.ThreadingHTTPServer):
    """Credentials that wait for the gate."""
    # All ask at once.
    request_queue_size = FILES // POST + 1

    def __init__(self, storage_url):
        self.gate, self.opened = threading.Event(), None
        self.storage_url = storage_url
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def open(self):
        self.opened = time.time()
        self.gate.set()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"uploads": [{"index": each["index"], "protocol": "put",
                                        "url": f"{self.server.storage_url}/{request['taskId']}-{each['index']}"}
                                       for each in request["resources"]]}).encode()
        self.server.gate.wait()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def write_config(folder, service, nginx):
    destination = {"credential": {"type": "http", "url": f"http://127.0.0.1:{service.server_port}/uploads"},
                   "delivery": {"type": "http", "url": nginx.url.removesuffix("/put") + "/sent"}}
    path = folder / "config.json"
    path.write_text(json.dumps({"destinations": {"bench": destination}, "accounts": {"default": {"destination": "bench"}}}))
    return path


def engine_round(programs, folder, nginx, photos):
    """- Returns seconds of the uploads, seconds until all are sent, and CPU seconds of the engine between."""
    service = Service(nginx.url)
    store = folder / "store"
    try:
        with EngineProcess([programs / "taskcenterd", "--store", store,
                            "--config", write_config(folder, service, nginx)]) as engine:
            ids = []
            for index in range(0, FILES, POST):
                resources = [{"source": {"path": str(photo)}} for photo in photos[index:index + POST]]
                ids.append(engine.call("task/submit", {"kind": "feedPost", "lane": f"lane-{index}",
                                                       "resources": resources})["task"]["id"])
            while True:
                tasks = engine.call("task/list", {"limit": 1000, "fields": ["resources"]})["tasks"]
                if all("export" in resource for task in tasks for resource in task["resources"]):
                    break
                time.sleep(0.1)
            cpu = cpu_seconds(engine.process.pid)
            service.open()
            for task_id in ids:
                state = engine.call("task/wait", {"id": task_id, "timeoutMs": 120_000}, 130)["task"]["state"]
                if state != "sent":
                    raise RuntimeError(f"a task is {state}")
            sent = time.time() - service.opened
            cpu = cpu_seconds(engine.process.pid) - cpu
            last = max(entry["at"] for task_id in ids
                       for entry in engine.call("task/history", {"id": task_id})["entries"] if entry["to"] == "uploaded")
            return last / 1000 - service.opened, sent, cpu
    finally:
        service.shutdown()
        service.server_close()
        shutil.rmtree(store, ignore_errors=True)


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def curl_round(nginx, photos):
    words = []
    for photo in photos:
        words += ["-T", str(photo), "-o", "/dev/null", f"{nginx.url}/curl-{photo.name}"]
    begin = time.perf_counter()
    process = subprocess.Popen(["curl", "-fsS", "--noproxy", "*", "-s", "-Z", "--parallel-max", "3", *words])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError("curl failed")
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime


def missing():
    return upload_part.missing()


def rounds(programs, work, photos):
    """- Returns the medians of both: (uploads, until sent, CPU) of the engine, (wall, CPU) of curl."""
    nginx = upload_part.Nginx(work / "nginx")
    ours, theirs = [], []
    try:
        for _ in range(ROUNDS):
            ours.append(engine_round(programs, work, nginx, photos))
            theirs.append(curl_round(nginx, photos))
            for path in (work / "nginx" / "store").iterdir():
                path.unlink()
    finally:
        nginx.stop()
    return [[statistics.median(values) for values in zip(*runs)] for runs in (ours, theirs)]


# A loopback of their own, as fast as a good office line, for the programs that follow. Needs root.
LINE = ["unshare", "--net", "sh", "-c", "ip link set lo up && tc qdisc add dev lo root tbf rate 1gbit burst 256kb latency 100ms "
        '&& exec "$@"', "line"]


def rounds_on_a_line(programs, work):
    """The same in a network of its own; None where the system does not let us make one."""
    if os.geteuid() or subprocess.run([*LINE, "true"], stderr=subprocess.DEVNULL).returncode:
        return None
    run = subprocess.run([*LINE, sys.executable, __file__, programs, work], check=True, stdout=subprocess.PIPE)
    return json.loads(run.stdout)


def measure(programs, work):
    photos, size = make_photos(work)
    (uploads, sent, cpu), (curl, curl_cpu) = rounds(programs, work, photos)
    rows = [(f"{FILES} files of {size // 1000} kB, uploads", uploads, curl, "s"),
            (f"same, until {len(range(0, FILES, POST))} posts are sent", sent, None, "s"),
            ("same, CPU of the client", cpu, curl_cpu, "s")]
    if found := rounds_on_a_line(programs, work):
        (uploads, sent, _), (curl, _) = found
        rows += [("same uploads over a line of 1 Gbit/s", uploads, curl, "s"),
                 ("same, until the posts are sent", sent, None, "s")]
    return rows


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    print(json.dumps(rounds(Path(sys.argv[1]), folder, photos_of(folder))))
