"""Every protocol under every fault: it ends with the very bytes of the receipt, or with a failure that has a name."""
import hashlib
import http.client
import json
import sys
import unittest

from storage_line import PART, StorageLine  # before what it puts on the path
from harness import FAST_RETRY
import s3sig
from storage import KEY, SECRET, SERVERS, Proxy, _Child

SIZE = 2 * PART + 700_000
MIDDLE = PART // 2
EXPIRED = "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"
GONE = "<Error><Code>NoSuchUpload</Code></Error>"

# What a proxy does to the second request that sends bytes of a protocol (the first, where there is one only).
FAULTS = {
    "none": "match=never",
    "cut": "cut={middle}",
    "reset": "reset={middle}",
    "stall": "stall={middle}",
    "lost reply": "eatreply=1",
    "lost reply twice": "eatreply=1,times=2",
    "early 503": "early=503",
    "late 500": "status=500",
    "expired": f"early=403,body={EXPIRED}",
    "gone": f"early=404,body={GONE}",
    "missing": "early=404",
    "corrupt": "corrupt=1000",
    "refused": "match=never",
    "kill": "stall={middle},times=0",
}
# Where it can't end well: a place that is not there. tus asks what there is, and goes on.
FAILURES = {(protocol, "missing"): "rejected" for protocol in ("put", "form", "multipart")}


class TusServer(_Child):
    def __init__(self, folder):
        port, = self.launch([sys.executable, SERVERS / "tus_server.py", "--dir", folder])
        self.address = f"127.0.0.1:{port}"

    def get(self, name):
        connection = http.client.HTTPConnection(self.address, timeout=60)
        try:
            connection.request("GET", f"/objects/{name}")
            response = connection.getresponse()
            content = response.read()
            return content if response.status == 200 else None
        finally:
            connection.close()


class Protocol:
    """How one protocol is issued and read. A new one is one more entry below."""

    def __init__(self, name, sends, credential, skip=1, resumes=False, is_tus=False):
        self.name, self.sends, self.credential, self.skip = name, sends, credential, skip
        self.resumes, self.is_tus = resumes, is_tus


def put(line, key, mime):
    return {"url": s3sig.presign("PUT", f"http://{line}/media/{key}"), "publicUrl": f"http://{line}/media/{key}"}


def form(line, key, mime):
    issued = s3sig.post_policy(f"http://{line}/media", key, mime)
    return {"url": issued["url"], "fields": issued["fields"] | {"key": key}, "publicUrl": f"http://{line}/media/{key}"}


def multipart(line, key, mime):
    return {"endpoint": f"http://{line}", "region": "us-east-1", "bucket": "media", "key": key, "pathStyle": True,
            "accessKeyId": KEY, "secretAccessKey": SECRET, "publicUrl": f"http://{line}/media/{key}"}


def tus(line, key, mime):
    name = key.replace("/", "-")
    return {"endpoint": f"http://{line}/files", "metadata": {"filename": name}, "publicUrl": f"http://{line}/objects/{name}"}


PROTOCOLS = [
    Protocol("put", "PUT /media", put, skip=0),
    Protocol("form", "POST /media", form, skip=0),
    Protocol("multipart", "partNumber=", multipart, resumes=True),
    Protocol("tus", "PATCH", tus, resumes=True, is_tus=True),
]


class IssuingLine(StorageLine):
    """Engine, service and storage by `self.protocol`, through `self.line`."""

    def setUp(self):
        super().setUp()
        tus_server = TusServer(self.folder / "tus")
        self.addCleanup(tus_server.stop)
        self.tus_server = tus_server
        self.issued = None
        self.url = self.service(
            lambda request, _: {"uploads": [self.issue(request["taskId"], one) for one in request["resources"]]})

    def issue(self, task, resource):
        return {"index": resource["index"], "protocol": self.protocol.name} | self.protocol.credential(
            self.line.address, f"{self.prefix}{task}.zip", resource["mime"])

    def stored(self, task):
        key = f"{self.prefix}{task}.zip"
        return self.tus_server.get(key.replace("/", "-")) if self.protocol.is_tus else self.weed.get(key)

    def open_line(self, protocol, *rules):
        self.protocol = protocol
        self.line = Proxy(self.tus_server.address if protocol.is_tus else self.weed.address, *rules)
        self.addCleanup(self.line.stop)
        return self.storage_config({"type": "http", "url": self.url}, retry=FAST_RETRY)


class Matrix(IssuingLine):
    def through(self, protocol):
        path = self.open_line(protocol)
        config = json.loads(path.read_text())
        config["uploads"]["stallTimeoutMs"] = 700
        path.write_text(json.dumps(config))
        engine = self.start_engine(path)
        for fault, rule in FAULTS.items():
            with self.subTest(protocol=protocol.name, fault=fault):
                engine = self.cell(engine, path, fault, rule)

    def cell(self, engine, path, fault, rule):
        rule = rule.format(middle=MIDDLE)
        if not rule.startswith("match"):
            rule = f"match={self.protocol.sends},skip={self.protocol.skip},{rule}"
        self.line.reset()
        self.line.rules("refuse=1,times=3" if fault == "refused" else rule)
        task = self.submit_file(engine, SIZE)["id"]
        if fault == "kill":
            self.line.wait(self.protocol.sends, passed=MIDDLE)
            engine.kill()
            self.line.rules()
            engine = self.start_engine(path)
        task = engine.call("task/wait", {"id": task, "timeoutMs": 60_000}, 70)["task"]
        allowed = FAILURES.get((self.protocol.name, fault))
        if allowed:
            self.assertEqual((task["state"], task.get("failure", {}).get("code")), ("failed", allowed), task)
            return engine
        self.assertEqual(task["state"], "sent", (task, self.engine_log()))
        receipt, content = task["resources"][0]["receipt"], self.stored(task["id"])
        self.assertEqual((len(content), hashlib.md5(content).hexdigest()), (receipt["size"], receipt["md5"]))
        if self.protocol.resumes and fault in ("cut", "reset", "stall", "kill", "lost reply"):
            # And the list of parts.
            self.assertLessEqual(self.line.stats()["body_bytes"], receipt["size"] + PART + 4096)
        return engine


def add(protocol):
    def test(self):
        self.through(protocol)
    setattr(Matrix, f"test_{protocol.name}_under_every_fault", test)


for one in PROTOCOLS:
    add(one)


if __name__ == "__main__":
    unittest.main()
