"""A whole line for one test: an engine on a store of its own, a business service, and media made on the spot."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Servers"))
from engine_client import EngineGone, EngineProcess, RemoteError  # noqa: E402,F401
from service_client import BusinessServiceProcess  # noqa: E402

PROGRAMS = Path(os.environ.get("TASKCENTER_BIN", HERE.parent.parent / ".build" / "debug")).resolve()
TOKEN = "a-secret-token"
FAST_RETRY = {"resourceRetries": 1, "baseMs": 20, "capMs": 100, "attempts": 6, "networkProbeMs": 50}


def make_photo(path, width=600, height=400, seed=1):
    """A JPEG with noise in it, so that its size is not nothing."""
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i",
                    f"testsrc2=s={width}x{height},noise=alls=60:all_seed={seed}", "-frames:v", "1", "-q:v", "2", str(path)],
                   check=True)
    return path


class Line(unittest.TestCase):
    """Engines and services started by a test are ended with it."""

    photos_made = None

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="taskcenter-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.store = self.folder / "store"
        self.log = self.folder / "engine.log"

    @classmethod
    def photos(cls, count):
        if Line.photos_made is None:
            Line.photos_made = Path(tempfile.mkdtemp(prefix="taskcenter-photos-"))
        for index in range(count):
            path = Line.photos_made / f"{index}.jpg"
            if not path.exists():
                make_photo(path, 900 - 60 * index, 600, seed=index)
        return [Line.photos_made / f"{index}.jpg" for index in range(count)]

    def start_service(self, *arguments):
        service = BusinessServiceProcess(self.folder / "service", TOKEN, arguments)
        self.addCleanup(service.stop, True)
        return service

    def config(self, service=None, **sections):
        """- Returns the path of a config whose default destination is `service`, or the embedded one."""
        config = {"retry": FAST_RETRY, **sections}
        if service:
            headers = {"Authorization": "Bearer ${env:API_TOKEN}"}
            config["destinations"] = {"prod": {
                "credential": {"type": "http", "url": service.url + "/uploads", "headers": headers},
                "delivery": {"type": "http", "url": service.url + "/send/{kind}", "headers": headers}}}
            config["accounts"] = {"default": {"destination": "prod"}}
        path = self.folder / "config.json"
        path.write_text(json.dumps(config))
        return path

    def environment(self):
        keep = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
        return keep | {"HOME": str(self.folder), "API_TOKEN": TOKEN}

    def command(self, config=None, *options):
        command = [PROGRAMS / "taskcenterd", "--store", self.store, "--log-level", "debug", *options]
        return [str(word) for word in command + (["--config", config] if config else [])]

    def start_engine(self, config=None, *options):
        engine = EngineProcess(self.command(config, *options), self.environment(), str(self.log))
        self.addCleanup(lambda: engine.process.poll() is None and engine.kill())
        return engine

    def submit(self, engine, kind, paths, **more):
        resources = [{"source": {"path": str(path)}} for path in paths]
        return engine.call("task/submit", {"kind": kind, "resources": resources, **more})["task"]

    def finish(self, engine, task_id, state="sent"):
        task = engine.call("task/wait", {"id": task_id, "timeoutMs": 60_000}, 70)["task"]
        self.assertEqual(task["state"], state, (task, self.engine_log()))
        return task

    def wait_until(self, condition, seconds=30):
        """For what no event tells; ends as soon as it is so."""
        deadline = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), deadline, self.engine_log())
            time.sleep(0.02)

    def refused(self, code, engine, method, params):
        with self.assertRaises(RemoteError) as caught:
            engine.call(method, params)
        self.assertEqual(caught.exception.code, code, caught.exception)
        return caught.exception.error

    def engine_log(self):
        return self.log.read_text(errors="replace")[-4000:] if self.log.exists() else ""

    def assert_stored_as_receipts_say(self, service, task):
        """Every object's bytes are those of its receipt, and it was delivered once."""
        import hashlib
        for resource in task["resources"]:
            status, _, content = service.request("GET", resource["url"][len(service.url):])
            self.assertEqual(status, 200)
            self.assertEqual(hashlib.md5(content).hexdigest(), resource["receipt"]["md5"])
        posts = [post for post in service.posts() if post["delivery"]["taskId"] == task["id"]]
        self.assertEqual(len(posts), 1, posts)
        return posts[0]["delivery"]
