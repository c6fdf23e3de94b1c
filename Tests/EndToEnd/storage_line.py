"""An engine whose destination is S3 storage (SeaweedFS), over a line that breaks at chosen moments."""
import hashlib
import json
import os
import shutil
import tempfile
import time

from harness import Line  # before what it puts on the path
from json_service import JSONService
from storage import KEY, SECRET, Proxy, Weed

PART = 5 << 20


class StorageLine(Line):
    """One server for the tests of a class; every test has a prefix of its own."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp(prefix="taskcenter-weed-")
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.weed = Weed(folder)
        cls.addClassCleanup(cls.weed.stop)

    def setUp(self):
        super().setUp()
        self.prefix = self.id().rsplit(".", 1)[-1] + "/"

    def proxy(self, *rules):
        proxy = Proxy(self.weed.address, *rules)
        self.addCleanup(proxy.stop)
        return proxy

    def bucket_config(self, address, **sections):
        upload = {"protocol": "multipart", "endpoint": f"http://{address}", "region": "us-east-1", "bucket": "media",
                  "keyPrefix": self.prefix, "pathStyle": True, "accessKeyId": KEY, "secretAccessKey": "${env:S3_SECRET}"}
        return self.storage_config({"type": "static", "upload": upload}, **sections)

    def storage_config(self, credential, slots=1, **sections):
        path = self.config(None, uploads={"slots": slots, "partSize": PART}, **sections)
        config = json.loads(path.read_text())
        config["destinations"] = {"bucket": {"credential": credential,
                                             "delivery": {"type": "journal", "path": str(self.folder / "sent.jsonl")}}}
        config["accounts"] = {"default": {"destination": "bucket"}}
        path.write_text(json.dumps(config))
        return path

    def service(self, answer):
        """A business service of this test. - Returns its URL."""
        service = JSONService(answer)
        self.addCleanup(service.stop)
        return service.url

    def environment(self):
        return super().environment() | {"S3_SECRET": SECRET}

    def submit_file(self, engine, size, **more):
        source = self.folder / "source.bin"
        source.write_bytes(os.urandom(size))
        return engine.call("task/submit", {"kind": "log", "resources": [{"source": {"paths": [str(source)]}}], **more})["task"]

    def assert_stored(self, task):
        receipt = task["resources"][0]["receipt"]
        key, = self.weed.keys(self.prefix)
        content = self.weed.get(key)
        self.assertEqual((len(content), hashlib.md5(content).hexdigest()), (receipt["size"], receipt["md5"]))
        self.assertEqual(self.weed.open_uploads(self.prefix), {})
        lines = (self.folder / "sent.jsonl").read_text().splitlines()
        self.assertEqual([json.loads(line)["taskId"] for line in lines], [task["id"]])
        return receipt

    def assert_no_secret(self, engine, task_id):
        told = json.dumps([engine.call("task/get", {"id": task_id}), engine.call("task/history", {"id": task_id}),
                           engine.notifications]) + self.log.read_text(errors="replace")
        for secret in (SECRET, "X-Amz-Signature", "AWS4-HMAC"):
            self.assertNotIn(secret, told)

    def gone(self, prefix):
        """Returns once no upload below `prefix` is open; the reaper works in the background."""
        deadline = time.monotonic() + 30
        while self.weed.open_uploads(prefix):
            self.assertLess(time.monotonic(), deadline, "the upload was not taken back")
            time.sleep(0.05)
