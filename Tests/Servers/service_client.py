"""A business service as a child process, and the few requests that tests, demo and benchmarks send to it."""
import base64
import hashlib
import http.client
import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode, urlsplit

PROGRAM = Path(__file__).with_name("business_service.py")


class BusinessServiceProcess:
    """Started at once, stopped by `stop()` or at the end of a `with` block."""

    def __init__(self, root, token=None, arguments=()):
        self.token = token
        options = ["--root", str(root), *(["--token", token] if token else []), *arguments]
        command = [sys.executable, str(PROGRAM), *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        words = self.process.stdout.readline().split()
        if len(words) != 2 or words[0] != "ready":
            self.stop()
            raise RuntimeError(f"the business service did not start: {words}")
        self.port = int(words[1])
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self, kill=False):
        if self.process.poll() is None:
            self.process.kill() if kill else self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()

    def request(self, method, path, body=None, headers=None):
        """- Returns status, headers and content, parsed where it is JSON. Raises OSError where the line is cut."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            content = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
            every = {"Authorization": f"Bearer {self.token}"} if self.token else {}
            connection.request(method, path, content, every | (headers or {}))
            answer = connection.getresponse()
            data = answer.read()
            is_json = "json" in answer.headers.get("Content-Type", "") and data
            return answer.status, answer.headers, json.loads(data) if is_json else data
        finally:
            connection.close()

    def get(self, path):
        return self.request("GET", path)[2]

    def faults(self, *rules):
        status, _, answer = self.request("POST", "/faults", {"rules": list(rules)})
        if status != 200:
            raise ValueError(answer["detail"])

    def release(self, name=None):
        self.request("POST", "/release", {"name": name} if name else {})

    def log(self):
        return self.get("/log")["requests"]

    def posts(self):
        return self.get("/posts")["posts"]

    def wait(self, method, path, phase, count=1, after=0, timeout_ms=30_000):
        """Blocks until `count` requests have reached the phase. Raises TimeoutError."""
        query = urlencode({"method": method, "path": path, "phase": phase, "count": count, "after": after,
                           "timeoutMs": timeout_ms})
        status, _, answer = self.request("GET", f"/wait?{query}")
        if status != 200:
            raise TimeoutError(f"{method} {path} {phase} × {count}: {answer['detail']}")
        return answer["requests"]


def describe(index, name, mime, content):
    """A resource as a credential request names it."""
    return {"index": index, "role": "image", "name": name, "mime": mime, "size": len(content),
            "md5": hashlib.md5(content).hexdigest(), "sha256": hashlib.sha256(content).hexdigest()}


def receipt_text(resource, url, **changes):
    """The canonical receipt (RFC 8785) of an upload. A change to None leaves the field out."""
    fields = {"v": 1, "url": url, **{name: resource[name] for name in ("mime", "size", "md5", "sha256", "name")}}
    fields = {name: value for name, value in (fields | changes).items() if value is not None}
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def content_md5(content):
    return base64.b64encode(hashlib.md5(content).digest()).decode()


def path_and_query(url):
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
